"""Handbill: the right pages in front of a coding agent, once per context window, with a receipt."""

# Hooks import this package on every agent turn: keep it free of imports.
VERSION = "0.1.0"
