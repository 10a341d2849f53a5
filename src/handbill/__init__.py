"""Handbill gives a coding agent its rules and files: each once per context window, with a receipt."""

# Hooks import this package on every agent turn: keep it free of imports.
VERSION = "0.1.0"
