"""Speed, memory and accuracy of driftlab, each a ratio within one run."""
