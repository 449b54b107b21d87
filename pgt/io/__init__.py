"""Files in and out: CSV, Excel, Parquet, NetCDF, MAT, NPZ in; NetCDF (CF), CSV, VTK out.

The files of this folder, in the order in which an input file passes through them:

    front doors          readers (readings and points), writers (fields, values, meshes), survey (the
                         contents of files, for `pgt init`)
    kinds of files       text, excel, parquet, netcdf, arrays (NPZ and MAT); each returns `columns`
    text to a table      file_access, encoding, simulation_text (Tecplot, OpenFOAM), layout (the
                         position of the table in the text)
    table to columns     headings, column_aliases, selection (cells and the requested columns)
    cells to numbers     number_format, time_stamps
    several files        merge (units, origins of time, sentinels)
    guesses for survey   column_roles
"""

# The formats of readings: each registers its reader under the endings it serves.
from pgt.core.dialect import Dialect as Dialect
from pgt.data.reading_stream import open_readings as open_readings
from pgt.io import arrays as arrays
from pgt.io import netcdf as netcdf
from pgt.io import parquet as parquet
from pgt.io.columns import Columns as Columns
from pgt.io.netcdf import read_field as read_field
from pgt.io.readers import read_columns as read_columns
from pgt.io.readers import read_observations as read_observations
from pgt.io.readers import read_points as read_points
from pgt.io.writers import mesh_points as mesh_points
from pgt.io.writers import read_mesh as read_mesh
from pgt.io.writers import write_field as write_field
from pgt.io.writers import write_mesh as write_mesh
from pgt.io.writers import write_values as write_values
