"""A run from its file to a folder: check, fit, how far to trust it, predict."""
