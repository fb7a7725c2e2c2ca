"""What several importers share."""
