"""The equation as a hard constraint: solved on a mesh of splines, what is unknown of it fitted through
the solution.

    collocation        a problem on a mesh, and the rows and slopes of one step in time
    march              steps in time, refinement of the mesh, sensitivities
    splines            the functions along one axis
    residuals          equation and conditions at points
    unknown_functions  initial states and boundary values that no condition gives, with their prior
    solution_fit       Gauss-Newton steps through the solution, noise and smoothness by evidence
    forward            the solution where nothing is unknown, and its error
    measurements       what sensors read of a solution
    piecewise          the solution as a piecewise polynomial
"""
