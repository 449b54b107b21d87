"""The equation as a hard constraint: solved on a mesh of splines, what is unknown of it fitted through
the solution.

    statement          equation and conditions as rows at points, and which boundary values are open
    splines            piecewise polynomials along one axis
    collocation        rows of steps in time on a mesh, their slopes, and what sensors read
    time_stepping      steps in time, refinement of the mesh, sensitivities
    unknown_functions  initial states and boundary values that no condition gives: prior, first guesses
    solution_fit       Gauss-Newton steps through the solution; noise, smoothness, offsets by evidence
    forward            the solution where nothing is unknown, and its error
"""
