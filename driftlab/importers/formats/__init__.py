"""One file a foreign format."""
