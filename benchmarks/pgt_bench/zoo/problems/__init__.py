"""The problems, a file for each kind."""
