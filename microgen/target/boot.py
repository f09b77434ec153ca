"""Boot blocks: bytes that some boot ROMs need in flash before they start a program there.

Sources: RP2040 datasheet, 2.7.2.3 (the second stage and its checksum); RP2350 datasheet, 5.9.5 (the
least metadata of an image).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BootBlock:
    """A boot block: a "second stage" or an "image definition". ``source`` is its file in
    ``crt/src/platform``, ``boot_<name>.S``. It takes ``nbytes`` bytes of flash, which is at
    ``origin``: in front of the vectors if ``is_first``, otherwise after them. ``core`` is the
    prefix of the names of the CPUs whose boot ROM needs the block."""

    kind: str
    source: str
    nbytes: int
    origin: int
    is_first: bool
    core: str

    @property
    def name(self) -> str:
        """The name that board.yml gives as ``boot``: the chip's."""
        return self.source.removeprefix("boot_").removesuffix(".S")

    @property
    def before_vectors(self) -> int:
        """The bytes from the start of flash to the vectors."""
        return self.nbytes if self.is_first else 0


BLOCKS = {
    block.name: block
    for block in (
        BootBlock("second stage", "boot_rp2040.S", 256, 0x10000000, True, "cortex-m0plus"),
        BootBlock("image definition", "boot_rp2350.S", 20, 0x10000000, False, "cortex-m33"),
    )
}
