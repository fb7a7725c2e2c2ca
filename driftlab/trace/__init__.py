"""What a run is: schema, views, masks; many of them: files, splits, summary, redaction."""

__all__ = [
    "corpus",
    "datasets",
    "labels",
    "masks",
    "messages",
    "parquet",
    "redact",
    "schema",
    "split",
    "summary",
    "views",
]
