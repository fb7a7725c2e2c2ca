"""Small agent loops that are really run, written down as labelled traces."""
