"""Small things that every floor may use: errors, files, checks, specs, words for numbers."""

__all__ = ["checks", "errors", "extras", "files", "plain", "registry", "resources", "spec", "wording"]
