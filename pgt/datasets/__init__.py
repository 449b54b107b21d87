"""Known fields to test against, as xarray Datasets with units and provenance."""

from pgt.datasets.analytic import advected_gaussian as advected_gaussian
from pgt.datasets.analytic import burgers as burgers
from pgt.datasets.analytic import heat as heat
from pgt.datasets.analytic import taylor_green as taylor_green
from pgt.datasets.analytic import travelling_wave as travelling_wave
from pgt.datasets.audit import audit as audit
from pgt.datasets.wake import cylinder_wake as cylinder_wake
