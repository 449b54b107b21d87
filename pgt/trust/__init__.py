"""How sure: members and their spread, calibration, intervals, suspicion, references, the verdict."""
