"""The result: a field that can be asked anywhere, and predictions of readings that a fit did not see."""
