"""What the notebooks need: labeller, data that ships, notebooks."""

__all__ = ["execute", "labeller", "notebooks", "shipped"]
