"""Gradient steps on networks, one or many at once.

training_loop     the loop on the host: budget, early stopping, recovery, checkpoints
training_step     the compiled steps
batched_training  several networks trained at once
"""
