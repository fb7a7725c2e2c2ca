"""What several importers share."""

__all__ = [
    "base",
    "chat",
    "claude_steps",
    "grouping",
    "health",
    "otel_attributes",
    "otel_messages",
    "repair",
    "repeats",
    "signals",
    "source",
    "spans",
    "stitch",
    "table",
    "text_actions",
    "turns",
    "values",
]
