"""A policy over finished runs: replay, gate."""
