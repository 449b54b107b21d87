"""The zoo: problems with known truth that nobody tuned for, defaults only, beside rivals.

truth, spectral ──► problems ──► catalogue: all of them by name
answers, peers ──► methods: who competes ──► runner: a record for each ──► summary, figures, page
"""

from pgt_bench.zoo.catalogue import get as get
from pgt_bench.zoo.catalogue import names as names
