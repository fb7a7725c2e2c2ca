"""One file a policy that ships."""

__all__ = ["default"]
