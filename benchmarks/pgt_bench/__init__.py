"""Experiments: the paper's tables, ours beside theirs.

problems ──► experiments: which runs make a table ──► runner: a record for each ──► tables, figures
             methods: who competes
             presets: how large, how long

Beside them the zoo, problems with known truth, and the generator, which draws such problems from seeds.
"""
