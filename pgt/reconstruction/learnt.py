"""What is known of learnt coefficients, with error bars or without."""

from typing import TYPE_CHECKING

from pgt.ground.unknown import named_unknowns
from pgt.nn.precision import is_double, precision
from pgt.trust.intervals import LEVEL, Estimate, estimated, intervals

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction


def known_intervals(result: "Reconstruction", level: float = LEVEL) -> dict[str, Estimate]:
    """Every coefficient with its interval: by the members where there are any, else by the fit's own
    posterior, where one was made to say how far the field may be wrong. Empty where nothing is known."""
    moves = result.record.get("coefficient_moves", {})
    if result.members is not None:
        unrest = result.record.get("members", {}).get("unrest", 0.0)
        return intervals(result.members, level, unrest, moves)
    known = result.record.get("learnt", {})
    with precision(is_double(result.pde)):
        return {
            name: estimated(
                node, known[name]["deviation"], level, known[name].get("unrest", 0.0),
                moves.get(name, 0.0),
            )
            for name, node in named_unknowns(result.pde)
            if name in known
        }  # fmt: skip
