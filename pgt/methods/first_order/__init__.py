"""Gradient steps on networks, one or many at once.

training_loop     the loop on the host: budget, early stopping, recovery, checkpoints
training_step     the compiled steps, of one network or of several at once
"""
