"""What everything stands on: errors, types, unknown coefficients, files, where numbers come from."""
