"""A policy over finished runs: replay, gate."""

__all__ = ["finished", "gate", "replay", "scope"]
