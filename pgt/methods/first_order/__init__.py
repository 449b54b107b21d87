"""First-order training: gradient steps on one network or on several at once.

training_loop     the loop on the host: budget, early stopping, recovery, checkpoints
training_step     the compiled steps, of one network or of several at once
"""
