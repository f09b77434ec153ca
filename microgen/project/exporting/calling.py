"""The shortest code that calls the models. It is valid C and C++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgen.base.manifest import ModuleRecord, PortRecord
from microgen.graph.ir.graph import DType
from microgen.project.emit.environment import environment
from microgen.project.emit.signature import dtype
from microgen.project.exporting.component import FLAGS, Component


def code(component: Component) -> str:
    """Declarations and ``static int32_t infer(void)``, which returns 0 or the first error."""
    return render("calling.c", component).decode()


def render(template: str, component: Component, **values: Any) -> bytes:
    """A template of ``templates/export`` with the values that all of them may use."""
    file_template = environment("export").get_template(f"{template}.j2")
    text = file_template.render(
        component=component,
        flags=FLAGS,
        name=component.name,
        headers=component.headers,
        models=_models(component.project.modules),
        **values,
    )
    return text.encode()


def _models(modules: Sequence[ModuleRecord]) -> list[dict[str, Any]]:
    several = len(modules) > 1
    return [{**_model(m), "suffix": f"_{m.module}" if several else ""} for m in modules]


def _model(module: ModuleRecord) -> dict[str, Any]:
    prefix = f"tvmgen_{module.module}"
    maps = bool(module.options["workspace_io"])
    structs = [] if maps else ["&inputs", "&outputs"]
    if module.feed:
        structs = [f"{prefix}_{module.inputs[0].name}_data", "&outputs"]
    structs += [f"&{prefix}_pools"] if module.passed_pools else []
    return {
        "module": module.module,
        "prefix": prefix,
        "is_packed": module.options["interface"] == "packed",
        "maps": maps,
        "map_argument": f"&{prefix}_pools" if module.passed_pools else "",
        "inputs": [_port(module, port) for port in module.inputs],
        "outputs": [_port(module, port) for port in module.outputs],
        "pools": [_pool(module, name) for name in module.passed_pools],
        "arguments": ", ".join(structs + ([f"&{prefix}_contexts"] if module.devices else [])),
        "hooks": [hook for device in module.devices for hook in device.hooks],
        "feed": module.feed,
        "has_state": any(buffer.is_state for buffer in module.plan.buffers),
    }


def _port(module: ModuleRecord, port: PortRecord) -> dict[str, Any]:
    return {
        "field": port.name,
        "name": f"tvmgen_{module.module}_{port.name}_data",
        "macro": f"tvmgen_{module.module}_{port.name}".upper(),
        "rank": len(port.shape),
        "dtype": dtype(DType(port.dtype)),
        "described": f"{port.dtype}[{','.join(map(str, port.shape))}]",
        "nbytes": port.nbytes,
        "count": _count(module, port),
        **_place(module, port),
    }


def _place(module: ModuleRecord, port: PortRecord) -> dict[str, Any]:
    """The array that contains a port, if it is another port's array or has more bytes than the
    port."""
    owner = next((p for p in module.inputs if p.name == port.over), port)
    pool = next((p for p in module.plan.pools if p.port == owner.name), None)
    alignment = pool.promised if pool and pool.promised > 1 else 0
    is_plain = pool is None or pool.nbytes == owner.nbytes
    if pool is None or (is_plain and owner is port):
        return {"memory": "", "memory_bytes": 0, "start": 0, "alignment": alignment}
    return {
        "memory": f"tvmgen_{module.module}_{owner.name}_{'data' if is_plain else 'memory'}",
        "memory_bytes": pool.nbytes if owner is port else 0,
        "start": pool.before,
        "alignment": alignment,
    }


def _count(module: ModuleRecord, port: PortRecord) -> str:
    """The number of elements of the buffer for a port, in C."""
    macro = f"tvmgen_{module.module}_{port.name}".upper()
    if module.feed and port in module.inputs:
        return f"{macro}_ROWS_SIZE / sizeof({macro}_TYPE)"
    return f"{macro}_COUNT"


def _pool(module: ModuleRecord, name: str) -> dict[str, Any]:
    """A pool that the application provides."""
    alignments = [pool.alignment for pool in module.plan.pools if pool.name == name]
    # A pool of constants has no record of its own.
    is_constant = any(constant.pool == name for constant in module.constants)
    kind = "CONSTANT" if is_constant else "WORKSPACE"
    return {
        "field": name,
        "name": f"tvmgen_{module.module}_{name}_pool",
        "macro": f"tvmgen_{module.module}_{name}_{kind}_POOL".upper(),
        "is_constant": is_constant,
        "alignment": max([16, *alignments]),
    }
