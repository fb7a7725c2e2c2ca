"""Labels kept beside the traces: one annotator's store, weak labels, sheets for people without a notebook."""

__all__ = ["sheet", "store", "weak"]
