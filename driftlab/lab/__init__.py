"""What the notebooks need: labeller, data that ships, notebooks."""
