"""Foreign logs to traces: `load` recognises and reads; one file a format, what several share in `parts`."""

__all__ = ["formats", "load", "parts"]
