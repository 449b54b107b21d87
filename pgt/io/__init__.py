"""Files in and out: CSV, Excel, Parquet, NetCDF, MAT, NPZ in; NetCDF (CF), CSV, VTK out.

Where things are, along the way of a file:

    front doors         readers (readings and points), writers, meshes, survey (what files hold, for
                        `pgt init`)
    kinds of files      text, excel, parquet, gridded (NetCDF), arrays and mat, vtk; each gives
                        `columns`
    text to cells       encoding, layout (where the table is), above, stacked, frames, placed,
                        pivots, blocks, pairs; of one instrument or program: casts, curves, labview,
                        probes, rasters, sections, tecplot
    cells to columns    table, cells, headings, unstacked, found (which column is meant), told
                        (which rows), sensors, origins
    cells to numbers    marks, suffixed, sentinels, varying, plain
    times               times (which columns), stamps, spellings, clocks, ordinals, epochs, zones
    several files       together, beside
    guesses by name     called, fields, guessed, names
"""

# The formats of readings: each registers its reader under the endings it serves.
from pgt.ground.dialect import Dialect as Dialect
from pgt.io import arrays as arrays
from pgt.io import excel as excel
from pgt.io import gridded as gridded
from pgt.io import parquet as parquet
from pgt.io import text as text
from pgt.io.columns import Columns as Columns
from pgt.io.gridded import read_field as read_field
from pgt.io.meshes import mesh_points as mesh_points
from pgt.io.meshes import read_mesh as read_mesh
from pgt.io.meshes import write_mesh as write_mesh
from pgt.io.readers import read_columns as read_columns
from pgt.io.readers import read_observations as read_observations
from pgt.io.readers import read_points as read_points
from pgt.io.writers import write_field as write_field
from pgt.io.writers import write_values as write_values
