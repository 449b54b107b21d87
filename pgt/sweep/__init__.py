"""Many fits on several processes or machines, scheduled by Dask; the extra `pgt[sweep]`.

cases       a sweep file as a list of run files with overrides
cluster     the cases on a Dask cluster, their records on disk, and the table of all
"""

from pgt.sweep.cases import Case as Case
from pgt.sweep.cases import read_sweep as read_sweep
from pgt.sweep.cluster import map_files as map
from pgt.sweep.cluster import run_sweep as run_sweep

__all__ = ["Case", "map", "read_sweep", "run_sweep"]
