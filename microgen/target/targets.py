"""Targets in addition to the host, as ``--target`` declares them.

A declaration is ``KIND[:device-type=N][:device-api]``: the target's name, DLPack's number of its
device, and whether its operators run between the hooks of TVM's device API. The host, the CPU of
the board, always exists and is never declared: its kind is ``c``, and nodes refer to it as "".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from microgen.base.errors import MicrogenError

SYNTAX = "KIND[:device-type=N][:device-api]"
HOST_KIND = "c"
CPU = 1
EXT_DEV = 12

# DLDeviceType (DLPack), with TVM's names.
_DEVICE_NAMES = {
    CPU: "cpu",
    2: "cuda",
    3: "cuda_host",
    4: "opencl",
    7: "vulkan",
    8: "metal",
    9: "vpi",
    10: "rocm",
    11: "rocm_host",
    EXT_DEV: "ext_dev",
    13: "cuda_managed",
    14: "oneapi",
    15: "webgpu",
    16: "hexagon",
}
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}")
_WHERE = "--target"


@dataclass(frozen=True, slots=True)
class Target:
    """A target: its kind, a DLDeviceType, and whether its operators need the device's hooks."""

    kind: str
    device_type: int = EXT_DEV
    use_device_api: bool = False

    def __str__(self) -> str:
        api = ":device-api" if self.use_device_api else ""
        return f"{self.kind}:device-type={self.device_type}{api}"


HOST = Target("", CPU)


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of a compilation without the host, in the order of declaration."""

    declared: tuple[Target, ...] = ()

    def __iter__(self) -> Iterator[Target]:
        return iter(self.declared)

    def by_kind(self, kind: str, *, where: str = "") -> Target:
        """The target of that kind, the host for "". Raises MicrogenError if none was declared;
        ``where`` is the place that the error names."""
        found = next((t for t in (HOST, *self.declared) if t.kind == kind), None)
        if found is None:
            known = ", ".join(map(str, self.declared)) or "none but the host"
            raise MicrogenError(
                f"no target is declared for {kind!r}; declared: {known}",
                where=where or _WHERE,
                hint=f"declare it: {_WHERE} {kind}[:device-type=N][:device-api]; a code generator "
                f"of that name is asked for with --codegen {kind}",
            )
        return found

    def with_generators(self, generators: Mapping[str, bool]) -> Targets:
        """These targets, and one for each code generator (by name) that has no declared target.

        The value says whether the generator needs the hooks of a device. Raises MicrogenError if it
        does and the declared target has none."""
        declared = {target.kind: target.use_device_api for target in self.declared}
        for name, api in generators.items():
            if api and not declared.get(name, True):
                raise MicrogenError(
                    f"the target {name!r} is declared without device-api; its codegen needs hooks",
                    where=_WHERE,
                    hint=f"write {_WHERE} {name}:device-api, or leave it out",
                )
        more = (Target(n, EXT_DEV, api) for n, api in generators.items() if n not in declared)
        return Targets((*self.declared, *more))

    @property
    def kinds(self) -> dict[int, str]:
        """DLDeviceType -> kind of the first target that was declared for it; annotations of devices
        are resolved with this."""
        # Reversed, so that the first declaration of a type remains.
        declared = {t.device_type: t.kind for t in reversed(self.declared)}
        return {**declared, CPU: HOST_KIND}


NO_TARGETS = Targets()


def device_name(device_type: int) -> str:
    """TVM's name of a DLDeviceType, or its number if it has no name."""
    return _DEVICE_NAMES.get(device_type, str(device_type))


def parse(texts: Sequence[str]) -> Targets:
    """The targets that the declarations describe. Raises MicrogenError for a malformed declaration,
    or for a kind that is declared twice."""
    found: dict[str, Target] = {}
    for text in texts:
        target = _parse_one(text)
        if target.kind in found:
            raise MicrogenError(f"target {target.kind!r} is declared twice", where=_WHERE)
        found[target.kind] = target
    return Targets(tuple(found.values()))


def _parse_one(text: str) -> Target:
    kind, *options = text.split(":")
    if not _KIND.fullmatch(kind):
        raise _malformed(text, f"{kind!r} cannot name a target")
    if kind == HOST_KIND:
        raise _malformed(text, f"{kind!r} is the host, which always exists")
    names = [option.partition("=")[0] for option in options]
    if len(set(names)) != len(names):
        raise _malformed(text, "an option is given twice")
    device_type, use_device_api = EXT_DEV, False
    for option in options:
        if option == "device-api":
            use_device_api = True
        else:
            device_type = _device_type(option, text)
    return Target(kind, device_type, use_device_api)


def _device_type(option: str, text: str) -> int:
    name, _, value = option.partition("=")
    if name != "device-type":
        raise _malformed(text, f"{option!r} is not an option")
    if not re.fullmatch("[0-9]{1,4}", value) or int(value) not in _DEVICE_NAMES:
        numbers = ", ".join(f"{number} {title}" for number, title in _DEVICE_NAMES.items())
        raise _malformed(text, f"{value!r} is not a device type of DLPack ({numbers})")
    return int(value)


def _malformed(text: str, why: str) -> MicrogenError:
    return MicrogenError(
        f"{text!r}: {why}",
        where=_WHERE,
        hint=f"write {SYNTAX}, such as npu0:device-type=12:device-api",
    )
