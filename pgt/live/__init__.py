"""A local page on which sensors are moved and the field follows: `pgt live`."""
