"""Performs a semihosting call for a server that does not: the core is then stopped at the call.

Source: Arm IHI 0100 "Semihosting for AArch32 and AArch64", which RISC-V has adopted.
"""

from __future__ import annotations

import struct

from microgen.running.runner.remote.files import STDOUT, Files, RefusedError
from microgen.running.runner.remote.memory import RemoteMemory

_OPEN, _CLOSE, _WRITE0, _WRITE, _READ = 0x01, 0x02, 0x04, 0x05, 0x06
_FAILED = 0xFFFFFFFF
_LONGEST_NAME = 256
_LONGEST_TEXT = 1 << 12
_STEP = 32  # bytes: texts are short, and may end near the end of memory

# The code at which the core stops, and its instruction's size: Thumb's bkpt 0xab; RISC-V's ebreak
# after slli x0, x0, 31 and before srai x0, x0, 7.
_CALLS = {
    "EM_ARM": (0, b"\xab\xbe", 2),
    "EM_RISCV": (-4, b"\x13\x10\xf0\x01\x73\x00\x10\x00\x13\x50\x70\x40", 4),
}


def skipped(machine: str, pc: int, memory: RemoteMemory) -> int | None:
    """The address after the semihosting call at ``pc``; None if no call is there."""
    before, code, size = _CALLS[machine]
    is_call = memory.read(pc + before, len(code)) == code
    return pc + size if is_call else None


def perform(operation: int, argument: int, files: Files, memory: RemoteMemory) -> int:
    """The result of a call, as the register gets it. Only calls for files and text succeed. Calls
    for time fail, because their time would be the debugger's."""
    try:
        return _performed(operation, argument, files, memory) & 0xFFFFFFFF
    except RefusedError:
        return _FAILED


def _performed(operation: int, argument: int, files: Files, memory: RemoteMemory) -> int:
    if operation == _OPEN:
        name, mode, size = _block(memory, argument, 3)
        text = memory.read(name, min(size, _LONGEST_NAME)).decode(errors="replace")
        return files.open(text, writes=mode >= 4)  # 0-3 are fopen's r, rb, r+ and r+b
    if operation == _CLOSE:
        files.close(*_block(memory, argument, 1))
        return 0
    if operation == _WRITE0:
        files.write(STDOUT, _text(memory, argument))
        return 0
    if operation == _WRITE:
        handle, at, count = _block(memory, argument, 3)
        # SYS_WRITE returns the number of bytes that were not written.
        return count - files.write(handle, memory.read(at, min(count, files.room(handle))))
    if operation == _READ:
        handle, to, count = _block(memory, argument, 3)
        data = files.read(handle, count)
        memory.write(to, data)
        # SYS_READ returns the number of bytes that were not read.
        return count - len(data)
    return _FAILED


def _block(memory: RemoteMemory, address: int, words: int) -> tuple[int, ...]:
    return struct.unpack(f"<{words}I", memory.read(address, 4 * words))


def _text(memory: RemoteMemory, address: int) -> bytes:
    data = b""
    while b"\0" not in data and len(data) < _LONGEST_TEXT:
        at = address + len(data)
        # Up to a multiple of the step, so that no read crosses the end of memory.
        data += memory.read(at, _STEP - at % _STEP)
    return data.split(b"\0")[0]
