"""What a user reads when something fits no pool."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.errors import CapacityError
from microgen.planner.spill import NoRoomError
from microgen.program import Pool


def no_room(missing: NoRoomError, tensor: str, targets: Sequence[str]) -> CapacityError:
    """The error for a buffer or constant that holds ``tensor`` and is used by calls of
    ``targets``: where it was tried, and by how many bytes each place is too small."""
    what = f'"{tensor}" ({missing.buffer}, {missing.nbytes:,} bytes) fits no pool'
    if not missing.lacks:
        used = f" by {', '.join(targets)}" if targets else ""
        return CapacityError(
            f"{what}: none may be used{used}",
            where="--pool",
            hint="declare a pool without targets, or add them to one; variables need a pool that "
            "is not external",
        )
    lacking = ", ".join(_lacks(pool, nbytes) for pool, nbytes in missing.lacks)
    pool, nbytes = missing.lacks[-1]
    least = (pool.capacity or 0) + nbytes
    return CapacityError(
        f"{what}: {lacking}",
        where="--pool",
        hint="Please increase the size_hints for memory pools: "
        f"--pool {pool.name}:{least} would take it, or declare a further pool",
    )


def _lacks(pool: Pool, nbytes: int) -> str:
    return f"{pool.name} of {pool.capacity or 0:,} bytes lacks {nbytes:,}"
