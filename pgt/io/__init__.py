"""Files in and out: CSV, Excel, Parquet, NetCDF, MAT, NPZ in; NetCDF (CF), CSV, VTK out."""

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
