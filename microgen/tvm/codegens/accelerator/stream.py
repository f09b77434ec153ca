"""Writes command streams in the layout of crt/src/accelerator/accelerator_stream.h."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from microgen.tvm.codegens.accelerator.commands import Command
from microgen.tvm.codegens.accelerator.memories import Memories

MAGIC = b"MGAC"
VERSION = 1


def encode(commands: Sequence[Command], memories: Memories) -> bytes:
    """The stream of the commands. Their constants are added to the memories."""
    body = b"".join(_command(made, memories) for made in commands)
    count = len(memories.sizes)
    checked = struct.pack(f"<{count}I", *memories.sizes) + body
    head = struct.pack("<4sHHI", MAGIC, VERSION, count, 16 + len(checked))
    return head + struct.pack("<I", zlib.crc32(checked)) + checked


def _command(made: Command, memories: Memories) -> bytes:
    counts = struct.pack("<BBH", made.opcode, len(made.operands), len(made.parameters))
    operands = b"".join(struct.pack("<3I", *memories.place(o)) for o in made.operands)
    return counts + operands + struct.pack(f"<{len(made.parameters)}i", *made.parameters)
