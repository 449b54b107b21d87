"""Networks that are trained once over a family: training, use, and what they are worth."""
