"""A core with the firmware loaded, which is run from its reset to its exit as often as needed.

The exit is a breakpoint, so the core stays where it is, the server goes on, and the next run starts
from there. QEMU would end with the firmware.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from microgen.base.errors import RunError, ToolError
from microgen.running.runner import image as images
from microgen.running.runner.calls import CONVENTIONS
from microgen.running.runner.gdb import GdbError, Stop
from microgen.running.runner.image import Image
from microgen.running.runner.remote import cycles, loading, semihosting, servers
from microgen.running.runner.remote.address import Address
from microgen.running.runner.remote.description import DebugRegister, Description
from microgen.running.runner.remote.files import Files
from microgen.running.runner.remote.protocol import Remote
from microgen.verifier.elf import elf

_EXIT = "mg_io_exit"
_HANDLERS = ("Fault_Handler", "Trap_Handler")
CHECK = "look at what the server says, and start it again"
_CONNECTED = "is the board connected, and is it the one that --on names?"
_VTOR = 0xE000ED08  # DDI 0403, B3.2.5
_THUMB = 0x01000000  # xPSR.T, without which every instruction is a fault
_LOCKUP = 0xEFFFFFFE  # DDI 0403, B1.5.15: the pc of a core that faulted in a fault handler
_PLAIN = ("control", "primask", "faultmask", "basepri")  # privileged, main stack, nothing masked
_NAMES = {"EM_ARM": "arm", "EM_RISCV": "riscv:rv32"}


class RemoteTarget:
    """A core that is stopped. ``where`` names the server in errors, and ``limit`` is the limit of
    ``opened``. It is a ``calls.DebuggedProgram``, and raises as ``Remote`` does."""

    def __init__(self, remote: Remote, image: Image, description: Description, where: str) -> None:
        self.image = image
        self.where = where
        self.limit = remote.limit
        self._remote = remote
        self._description = description
        self._convention = CONVENTIONS[image.machine]
        self._exit = image.address(_EXIT)
        self._inserted: dict[int, int] = {}
        self._files: Files | None = None
        self._is_running = False

    def start(self, files: Files) -> None:
        """Load the firmware and stop it before its first instruction. Its semihosting calls use
        ``files``."""
        self._files = files
        self._remote.serve = lambda request: semihosting.serve(request, files, self._remote)
        self.release()
        self._reset()
        if loading.load(self._remote, self.image.path, self.where):
            self._reset()  # programming flash needs the core
        self._set_registers()
        self.insert_breakpoint(self._exit, self._convention.breakpoint)

    def counter(self) -> cycles.Counter | cycles.Missing:
        """The core's counter of cycles, after ``start``."""
        return cycles.find(self._remote, self.image.machine, self._description)

    def progress(self) -> None:
        """The firmware has made progress, so it gets its whole time limit again."""
        self._remote.progress()

    def resume(self) -> Stop:
        """Let the firmware run until it stops, or ends with the exit code that it gives."""
        self._remote.progress()
        handled = False
        while True:
            self._is_running = True
            stop = self._remote.resume()
            self._is_running = False
            if stop.exit_code is not None:
                return stop
            pc = self._pc()
            # The firmware never returns from its exit, so the breakpoint is where it ends.
            if pc == self._exit:
                return Stop(self._status())
            if pc in self._inserted:
                return stop
            if not handled and pc in map(self.image.address_or_none, _HANDLERS):
                handled = True  # the server stops at faults, but the fault handler reports more
            elif not self._semihosting(pc):
                raise GdbError(f"the core stopped without a breakpoint at {self.image.place(pc)}")

    def stop(self) -> str:
        """Stop firmware that runs too long, and return its location as text; empty if it is not
        known."""
        try:
            self._remote.interrupt()
            self._is_running = False
            pc = self._pc()
        except (GdbError, TimeoutError):
            return ""
        lockup = pc & ~1 == _LOCKUP
        return "a lockup (a fault in a fault handler)" if lockup else self.image.place(pc)

    def release(self) -> None:
        """Remove all breakpoints."""
        for address, kind in list(self._inserted.items()):
            self.remove_breakpoint(address, kind)

    def close(self) -> None:
        """Leave the core stopped and without breakpoints, if it can still be reached."""
        with contextlib.suppress(GdbError, TimeoutError):
            if self._is_running:
                self._remote.interrupt()
            self.release()

    def registers(self, count: int, width: int) -> tuple[int, ...]:
        """The first registers of the machine's list."""
        return self._remote.registers(count, width)

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        return self._remote.read(address, size)

    def insert_breakpoint(self, address: int, kind: int) -> None:
        """Insert a breakpoint, unless there is one."""
        if address not in self._inserted:
            self._remote.insert_breakpoint(address, kind)
            self._inserted[address] = kind

    def remove_breakpoint(self, address: int, kind: int) -> None:
        """Undo ``insert_breakpoint``."""
        self._remote.remove_breakpoint(address, kind)
        self._inserted.pop(address, None)

    def _registers(self) -> tuple[int, ...]:
        return self._remote.registers(self._convention.registers, self._convention.width)

    def _pc(self) -> int:
        return self._registers()[self._convention.pc]

    def _status(self) -> int:
        value = self._registers()[self._convention.arguments[0]]
        return value - (value >> 31 << 32)

    def _semihosting(self, pc: int) -> bool:
        """Perform the semihosting call at which the core stopped. False if there is none."""
        after = semihosting.skipped(self.image.machine, pc, self._remote)
        if after is None or self._files is None:
            return False
        first, second = self._convention.arguments[:2]
        registers = self._registers()
        result = semihosting.perform(registers[first], registers[second], self._files, self._remote)
        self._set(DebugRegister(self._convention.result, 4), result)
        self._set(self._number("pc", self._convention.pc), after)
        return True

    def _reset(self) -> None:
        """Reset the core, if the server can: after a fault it would remain in the handler."""
        if "unknown command" in self._remote.monitor("reset halt").lower():
            self._remote.monitor("system_reset")  # QEMU's monitor
        self._remote.halt_reason()

    def _set_registers(self) -> None:
        """The registers as a reset leaves them if the firmware is at the address of the reset."""
        # Without the Thumb bit, which the ELF's entry point has and the pc has not.
        entry = self.image.entry & ~1
        if self.image.machine == "EM_ARM":
            self._set_arm(elf.load(self.image.path))
        self._set(self._number("pc", self._convention.pc), entry)
        # A server that ignores the write would let other code run.
        if self._pc() != entry:
            raise GdbError("the server does not set the program counter")

    def _set_arm(self, program: elf.Elf) -> None:
        vectors = next((s.address for s in program.sections if s.name == ".vectors"), None)
        stack = None if vectors is None else program.word(vectors)
        if vectors is None or stack is None:
            raise RunError(
                "the firmware has no vectors", where=str(self.image.path), hint="build it again"
            )
        # Not every core has each of these, and not every server shows it.
        with contextlib.suppress(GdbError):
            self._remote.write(_VTOR, vectors.to_bytes(4, "little"))
        for name in _PLAIN:
            if name in self._description.registers:
                with contextlib.suppress(GdbError):
                    self._set(self._description.registers[name], 0)
        with contextlib.suppress(GdbError):
            # 25 is xPSR's number in gdb's list for the M profile.
            self._set(self._number("xpsr", 25), _THUMB)
        self._set(self._number("sp", self._convention.stack), stack)

    def _number(self, name: str, usual: int) -> DebugRegister:
        return self._description.registers.get(name, DebugRegister(usual, 4))

    def _set(self, register: DebugRegister, value: int) -> None:
        self._remote.set_register(register, value)


@contextlib.contextmanager
def opened(address: Address, path: Path, limit: float) -> Iterator[RemoteTarget]:
    """The core that a server debugs, for running the firmware ``path``. ``limit``: the firmware is
    considered hung after this number of seconds without progress.

    Raises ToolError if there is no server, RunError if the server debugs another core or ceases to
    answer.
    """
    where = str(address)
    image = images.load(path)
    if image.machine not in _NAMES:
        raise ToolError(f"{where} cannot run firmware for {image.machine}")
    with servers.connected(address) as server, _broken(where, server):
        remote = Remote(server.connection, limit)
        description = remote.describe()
        _check_core(description, image, where)
        target = RemoteTarget(remote, image, description, where)
        try:
            yield target
        finally:
            target.close()


@contextlib.contextmanager
def _broken(where: str, server: servers.Server) -> Iterator[None]:
    """Turn errors of the connection and of the server into RunError."""
    try:
        yield
    except (GdbError, TimeoutError) as error:
        what = "it does not answer" if isinstance(error, TimeoutError) else str(error)
        messages = server.messages()
        raise RunError(
            f"the debugger's server fails: {what}{f'; it said: {messages}' if messages else ''}",
            where=where,
            hint=CHECK if not server.logs else _CONNECTED,
        ) from error


def _check_core(description: Description, image: Image, where: str) -> None:
    architecture, wanted = description.architecture, _NAMES[image.machine]
    other = bool(architecture) and not architecture.startswith(wanted)
    if not other and wanted == "arm" and description.features:
        other = not any("arm.m-" in name for name in description.features)
        architecture = f"{architecture or wanted} without the M profile"
    if other:
        raise RunError(
            f"the server's core is {architecture}, and the firmware is for "
            f"{'arm (Cortex-M)' if wanted == 'arm' else wanted}",
            where=where,
            hint="connect the board for which the project was generated",
        )
