"""Storage ids for reuse: a storage holds a value until the value's last reader has run."""

from __future__ import annotations

from dataclasses import dataclass, field

# A free storage that is more than this many times too large or too small is not used
# (TVM's match_range_).
_MATCH_RANGE = 16


@dataclass(slots=True, eq=False)
class StorageToken:
    """A storage: its id, and the bytes of the largest value that it will hold."""

    storage_id: int
    nbytes: int


@dataclass(slots=True)
class Tokens:
    """All storages, and the free ones among them.

    Source: TVM v0.14, graph_plan_memory.cc, TokenAllocator1D.
    """

    all: list[StorageToken] = field(default_factory=list)
    free: list[StorageToken] = field(default_factory=list)

    def new(self, nbytes: int) -> StorageToken:
        """A storage that nothing has used yet."""
        token = StorageToken(len(self.all), nbytes)
        self.all.append(token)
        return token

    def request(self, nbytes: int) -> StorageToken:
        """The free storage that fits best, grown if necessary; a new one if none is close."""
        near = [
            token
            for token in self.free
            if token.nbytes * _MATCH_RANGE >= nbytes and token.nbytes <= nbytes * _MATCH_RANGE
        ]
        # As in TVM: the smallest that is large enough, otherwise the largest, which has to grow
        # least.
        larger = [token for token in near if token.nbytes >= nbytes]
        if larger:
            found = min(larger, key=lambda token: token.nbytes)
        elif near:
            found = max(near, key=lambda token: token.nbytes)
        else:
            return self.new(nbytes)
        self.free.remove(found)
        found.nbytes = max(found.nbytes, nbytes)
        return found

    def release(self, token: StorageToken) -> None:
        """Let other values use the storage."""
        if token not in self.free:
            self.free.append(token)
