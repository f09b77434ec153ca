"""The model's own files: header, runner, operators, constants, memory symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microgen import cnames
from microgen.emit import literals
from microgen.emit.environment import environment
from microgen.files import FileTree
from microgen.program import (
    Argument,
    Call,
    Constant,
    KernelCall,
    MemoryPlan,
    Parameter,
    Placement,
    Port,
    PrimFunc,
    Program,
    Role,
    Storage,
    Value,
)

_HOST = "model/codegen/host"


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """``model_file`` is quoted in comments; ``specialise`` inlines each kernel's body into its
    operator, so that the compiler knows the shape; otherwise operators call the shared form."""

    model_file: str
    specialise: bool = True


def emit(program: Program, plan: MemoryPlan, options: EmitOptions) -> FileTree:
    """The files below ``model/codegen/host``."""
    module = program.module
    context = _Context(program, plan, options)
    outputs = {
        f"include/tvmgen_{module}.h": ("include/tvmgen.h.j2", context.header()),
        f"src/{module}_lib0.c": ("src/lib0.c.j2", context.runner()),
        f"src/{module}_lib1.h": ("src/lib1.h.j2", context.operators()),
        f"src/{module}_lib1.c": ("src/lib1.c.j2", context.operators()),
        f"src/{module}_params.h": ("src/params.h.j2", context.constants()),
        f"src/{module}_params.c": ("src/params.c.j2", context.constants()),
    }
    if plan.peak:
        outputs[f"src/{module}_memory.s"] = ("src/memory.s.j2", context.memory())
    templates = environment(f"project/{_HOST}")
    return FileTree(
        {
            f"{_HOST}/{path}": templates.get_template(name).render(data).encode()
            for path, (name, data) in outputs.items()
        }
    )


def arena_symbol(module: str, pool: str) -> str:
    """The ELF symbol of a workspace pool."""
    return f"tvmgen_{module}_{pool}"


def constant_symbol(module: str, name: str) -> str:
    """The ELF symbol of a constant."""
    return f"tvmgen_{module}_{name}"


@dataclass(frozen=True, slots=True)
class _Context:
    """Computes what the templates lay out."""

    program: Program
    plan: MemoryPlan
    options: EmitOptions

    @property
    def prefix(self) -> str:
        return f"tvmgen_{self.program.module}"

    @property
    def arena(self) -> str:
        return arena_symbol(self.program.module, self.plan.pools[0].name)

    def common(self, guard: str) -> dict[str, Any]:
        return {
            "module": self.program.module,
            "prefix": self.prefix,
            "macro_prefix": self.prefix.upper(),
            "model": cnames.comment(self.options.model_file),
            "guard": f"{self.prefix.upper()}_{guard}H_",
            "workspace_bytes": self.plan.peak,
        }

    def header(self) -> dict[str, Any]:
        return {
            **self.common(""),
            "inputs": [self._port(port) for port in self.program.inputs],
            "outputs": [self._port(port) for port in self.program.outputs],
            "has_state": bool(self.program.state),
        }

    def runner(self) -> dict[str, Any]:
        ports = [*self.program.inputs, *self.program.outputs]
        kept = [buffer.name for buffer in self.program.state]
        used = {argument.name for call in self.program.calls for argument in call.args}
        run = [f"inputs->{p.name}" for p in self.program.inputs]
        run += [f"outputs->{p.name}" for p in self.program.outputs]
        return {
            **self.header(),
            "arena": self.arena,
            "buffers": [_row(p, p.name in kept) for p in self.plan.placements],
            "state": [(self.plan.by_name[b.name], b.reset_byte) for b in self.program.state],
            "main_parameters": ", ".join(f"void *{p.name}" for p in ports),
            "unused": [p.name for p in ports if p.name not in used],
            "run_arguments": ", ".join(run),
            "calls": [self._call(call) for call in self.program.calls],
        }

    def operators(self) -> dict[str, Any]:
        bodies = [kernel for f in self.program.functions for kernel in f.body]
        return {
            **self.common("LIB1_"),
            "headers": sorted({kernel.header for kernel in bodies}),
            "functions": [self._function(f) for f in self.program.functions],
        }

    def constants(self) -> dict[str, Any]:
        return {
            **self.common("PARAMS_"),
            "constants": [self._constant(c) for c in self.program.constants],
        }

    def memory(self) -> dict[str, Any]:
        return {
            **self.common(""),
            "file": f"{self.program.module}_memory.s",
            "arena": self.arena,
            "alignment": self.plan.pools[0].alignment,
            "buffers": self.plan.placements,
        }

    def _port(self, port: Port) -> dict[str, Any]:
        return {
            "name": port.name,
            "nbytes": port.type.nbytes,
            "size_macro": f"{self.prefix}_{port.name}_SIZE".upper(),
            "comment": f"{cnames.comment(port.tensor, 60)}: {port.type}{_fixed(port)}",
        }

    def _call(self, call: Call) -> dict[str, Any]:
        function = self.program.function(call.function)
        number = f"{call.index + 1}/{len(self.program.calls)}"
        why = "; ".join((call.reason, *(f"not {refusal}" for refusal in call.refusals)))
        return {
            "title": f'{number} "{cnames.comment(call.tensor)}"',
            "types": cnames.comment(call.summary),
            "kernel": cnames.comment(f"{call.kernel}: {why}", 400),
            "function": call.function,
            "args": self._arguments(call, function),
        }

    def _arguments(self, call: Call, function: PrimFunc) -> list[str]:
        given = iter(call.args)
        return [
            self._scratch(call) if p.role is Role.SCRATCH else self._pointer(next(given), p)
            for p in function.parameters
        ]

    def _scratch(self, call: Call) -> str:
        return f"&{self.arena}[{self.plan.by_name[f'scratch_{call.index}'].offset}]"

    def _pointer(self, argument: Argument, parameter: Parameter) -> str:
        if argument.storage is Storage.CONSTANT:
            return constant_symbol(self.program.module, argument.name)
        const = "" if parameter.role in (Role.OUTPUT, Role.STATE) else "const "
        if argument.storage is Storage.SID:
            place = f"&{self.arena}[{self.plan.by_name[argument.name].offset}]"
            return f"({const}{parameter.ctype} *){place} /* {argument.name} */"
        return f"({const}{parameter.ctype} *){argument.name}"

    def _function(self, function: PrimFunc) -> dict[str, Any]:
        layers = [
            cnames.comment(c.tensor) for c in self.program.calls if c.function == function.name
        ]
        return {
            "name": function.name,
            "layers": ", ".join(f'"{layer}"' for layer in layers),
            "parameters": [_declaration(p) for p in function.parameters],
            "body": [self._kernel(k, i, len(function.body)) for i, k in enumerate(function.body)],
            "can_fail": any(k.can_fail for k in function.body),
        }

    def _kernel(self, kernel: KernelCall, index: int, count: int) -> dict[str, Any]:
        return {
            "symbol": kernel.symbol,
            "callee": f"{kernel.symbol}_body" if self.options.specialise else kernel.symbol,
            "params_name": "params" if count == 1 else f"params_{index}",
            "fields": [f".{name} = {_initialiser(value)}" for name, value in kernel.params],
            "args": kernel.args,
            "can_fail": kernel.can_fail,
        }

    def _constant(self, constant: Constant) -> Mapping[str, Any]:
        shape = ",".join(map(str, constant.array.shape))
        source = ", ".join(constant.transform.sources)
        text = f"{constant.name}: {constant.array.dtype.name}[{shape}]"
        layer = cnames.comment(constant.origin)
        made = "" if constant.transform.kind == "identity" else f", {constant.transform.kind}"
        return {
            "ctype": constant.ctype,
            "symbol": constant_symbol(self.program.module, constant.name),
            "size": constant.array.size,
            "comment": f'{text} of "{layer}"{made} from {source}',
            "initialisers": literals.table(constant.array, constant.ctype),
        }


def _declaration(parameter: Parameter) -> str:
    const = "const " if parameter.role in (Role.INPUT, Role.CONSTANT) else ""
    return f"{const}{parameter.ctype} *{parameter.name}"


def _initialiser(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(literals.scalar, value)) + "}"
    return literals.scalar(value)


def _row(placement: Placement, is_state: bool) -> str:
    calls = f"{placement.first // 2 + 1}..{placement.last // 2 + 1}"
    calls = "always" if is_state else calls
    return f"{placement.offset:9d} {placement.nbytes:9d}  {calls:12s} {placement.name}"


def _fixed(port: Port) -> str:
    """What the header says of an input that has one value only."""
    return f", always {list(port.fixed)}: not read" if port.fixed else ""
