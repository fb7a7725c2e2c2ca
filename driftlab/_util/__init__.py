"""Small things that every floor may use: errors, files, checks, specs, words for numbers."""
