"""Stop rules, policies and their file; what tools are for; where a rule came from."""

__all__ = ["policy", "presets", "provenance", "roles"]
