"""Governing equations with a name, one file each."""
