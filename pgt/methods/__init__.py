"""Ways to fit a field, beside the training of networks and the closed form of sines.

which one           fit (by model)
the solver          solver (Gauss-Newton's method, its posterior), unknown_functions (initial states and
                    boundary values, with their prior), readings (what sensors see of a solution)
its solutions       march (steps and meshes), collocation (one step: rows and slopes), splines (the
                    axes), rows (equation and conditions at points), pieces (the field)
"""
