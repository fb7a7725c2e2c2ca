"""What a run is: schema, views, masks; many of them: files, splits, summary, redaction."""
