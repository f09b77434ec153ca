"""Whether the program calls the entry point of a model at all."""

from __future__ import annotations

from microgen.verifier.instructions.architecture import Code
from microgen.verifier.instructions.flow import frame


def is_reached(code: Code, start: int) -> bool:
    """Whether a path of calls leads from the reset to the function at ``start``. Only calls that
    are reached inside their functions count, and the functions below ``start`` are not read."""
    seen, work = {code.reset}, [code.reset]
    while work:
        # Breadth first: the way from the reset to main is short, and libraries are deep.
        targets = {edge.target for edge in frame(code, work.pop(0)).edges} - seen
        if start in targets:
            return True
        seen |= targets
        work += sorted(targets)
    return False
