"""Interpolation without physics: what a fit must beat to be worth its time."""
