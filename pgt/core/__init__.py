"""What everything stands on: errors, types, unknown coefficients, files, numbers in words, verdicts."""
