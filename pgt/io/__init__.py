"""Files in and out: CSV, Parquet, NetCDF, MAT, NPZ in; NetCDF (CF), CSV, VTK out."""

from pgt.io.gridded import read_field as read_field
from pgt.io.readers import read_observations as read_observations
from pgt.io.readers import read_points as read_points
from pgt.io.writers import write_field as write_field
from pgt.io.writers import write_values as write_values
