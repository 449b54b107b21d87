"""Equations on meshes of splines: the forward solver, and how its solution changes with what is unknown.

collocation        a problem on a mesh, and the rows and slopes of one step in time
march              steps in time, refinement of the mesh, sensitivities
splines            the functions along one axis
rows               equation and conditions at points
unknown_functions  initial states and boundary values that nobody gave, with their prior
readings           what sensors read of a solution
pieces             the solution as a piecewise polynomial
"""
