"""The error that a user gets if something fits no pool."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.base.errors import CapacityError, UnsupportedError
from microgen.base.names import cnames
from microgen.planner.program.plan import Pool
from microgen.planner.spill import NoRoomError


def no_room(
    missing: NoRoomError, tensor: str, targets: Sequence[str] = (), *, is_state: bool = False
) -> CapacityError:
    """The error for a buffer or constant that holds ``tensor`` and is used by calls of
    ``targets``: the places that were tried, and how many bytes each lacks."""
    what = f'"{cnames.public(tensor)}" ({missing.buffer}, {missing.nbytes:,} bytes) fits no pool'
    if not missing.lacks:
        return CapacityError(
            f"{what}: none is for {', '.join(targets)}{' and outlives a call' if is_state else ''}",
            where="--pool",
            hint="declare one without targets, or add these to one"
            + (", which is not external: it holds a variable" if is_state else ""),
        )
    lacking = ", ".join(_lacks(pool, nbytes) for pool, nbytes in missing.lacks)
    # Pools are tried in order, so a larger last one would be enough.
    pool, nbytes = missing.lacks[-1]
    least = (pool.capacity or 0) + nbytes
    return CapacityError(
        f"{what}: {lacking}",
        where="--pool",
        # TVM's own sentence (USMP), for which users may search.
        hint="Please increase the size_hints for memory pools: "
        f"--pool {pool.name}:{least} would fit, or declare another pool",
    )


def no_place(ports: Sequence[str]) -> UnsupportedError:
    """The error for an output that cannot lie in the buffer of an input."""
    return UnsupportedError(
        f"the output is written while the input is still read ({', '.join(ports)}), so they cannot "
        "be in one buffer",
        where="--output-overlay",
        hint="leave it out, or use --input-consumed",
    )


def _lacks(pool: Pool, nbytes: int) -> str:
    return f"{pool.name} of {pool.capacity or 0:,} bytes lacks {nbytes:,}"
