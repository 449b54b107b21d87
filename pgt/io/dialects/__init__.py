"""Tables as particular loggers and programs write them, turned into lines of an ordinary table.

A dialect is a function of the first lines of a file, the iterator over the rest, and the name of the
file. It returns both, converted to a heading and rows, or unchanged where the text is of another kind.
A new dialect is one function in a file here, and one line below.
"""

from pgt.io.dialects.blocks import convert_blocks
from pgt.io.dialects.cfd_programs import (
    convert_cfx_sections,
    convert_fluent_curves,
    convert_openfoam_probes,
)
from pgt.io.dialects.esri_grid import convert_esri_grid
from pgt.io.dialects.instruments import convert_labview, convert_seabird, drop_easylog_serial
from pgt.io.dialects.printed_rows import convert_pairs, convert_row_names
from pgt.io.dialects.tecplot import convert_tecplot

# In the order in which they are tried.
DIALECTS = (
    convert_openfoam_probes,
    convert_tecplot,
    convert_esri_grid,
    convert_fluent_curves,
    convert_seabird,
    convert_labview,
    convert_cfx_sections,
    drop_easylog_serial,
    convert_row_names,
    convert_pairs,
    convert_blocks,
)
