"""The equation as a hard constraint: solved on a mesh of splines, with its unknowns fitted through the
solution.

    statement          equation and conditions as rows at points, and which boundary values are open
    splines            splines along one axis, and their collocation points
    collocation        the rows of time steps on a mesh, their slopes, and the readings of sensors
    time_stepping      time steps, refinement of the mesh, sensitivities
    unknown_functions  unknown initial states and boundary values: prior and first guesses
    solution_fit       Gauss-Newton steps through the solution; noise and smoothness by evidence
    forward            the solution of a problem without unknowns, and its error
"""
