"""The devices of a program: the targets that need hooks, and their names in C.

Names follow TVM (``tvm_names``), except that names of hooks keep their digits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from microgen.base.errors import MicrogenError
from microgen.base.names import cnames
from microgen.base.names.tvm_names import prefix_name, sanitize_name, to_c_function_style
from microgen.planner.program.external import DeviceDriver
from microgen.planner.program.types import Device
from microgen.target.targets import Target, Targets

HOOKS = ("Activate", "Open", "Close", "Deactivate")  # in the order of a device's life


def of(
    targets: Targets,
    used: Collection[str],
    taken: Collection[str],
    drivers: Mapping[str, DeviceDriver],
) -> tuple[Device, ...]:
    """A device for each target with the device API among the kinds in ``used``, in the order of
    declaration. ``taken`` are C names that no context may have. ``drivers``, by kind, have the
    functions for hooks.

    Raises MicrogenError if two devices would have the same name, or a hook the name of a port.
    """
    needed = [t for t in targets if t.use_device_api and t.kind in used]
    devices = tuple(_device(target, taken, drivers) for target in needed)
    owners: dict[str, Device] = {}
    for device in devices:
        for name in (device.name, *device.hooks):
            # Different kinds can have one name in C, where only letters, digits and _ remain.
            other = owners.setdefault(name, device)
            if other is not device:
                raise MicrogenError(
                    f"targets {other.target!r} and {device.target!r} would share {name!r}",
                    where="--target",
                    hint="name them so that their letters and digits differ, case aside",
                )
        if clash := next((hook for hook in device.hooks if hook in taken), None):
            raise MicrogenError(
                f"an input or output has the name of a hook of {device.target!r}, {clash}",
                where="--target",
                hint="name the target, or the tensor, otherwise",
            )
    return devices


def _device(target: Target, taken: Collection[str], drivers: Mapping[str, DeviceDriver]) -> Device:
    name = cnames.identifier(target.kind)
    context = cnames.unique(f"device_context_{name}", taken)
    activate, opened, close, deactivate = (hook_name(target.kind, hook) for hook in HOOKS)
    driver = drivers.get(target.kind)
    return Device(name, target.kind, context, activate, opened, close, deactivate, driver)


def hook_name(kind: str, hook: str) -> str:
    """``TVMDevice<Kind><Hook>``: the C function for a hook of a device of that kind."""
    return to_c_function_style(prefix_name("Device", sanitize_name(kind), hook))
