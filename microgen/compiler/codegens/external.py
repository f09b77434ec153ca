"""The interface of external code generators: the operators that they take, and their results.

A generator is an instance of a subclass of ``ExternalCodegen``. The partitioner asks which nodes it
takes (``support``, ``refusal``) and makes external functions. ``compile`` turns them into C, or
into modules for a runtime on the board. docs/guides/byoc.md is the tutorial.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from microgen.base.errors import MicrogenError, of_codegen
from microgen.base.names import cnames
from microgen.compiler.codegens.base import Primitive, Region, step
from microgen.compiler.codegens.made_check import check
from microgen.graph.ir.graph import Array, ArrayType, Graph, Node, Origin
from microgen.graph.ir.refusal import Refusal
from microgen.graph.ops.external import ExternalAttrs
from microgen.kernels.base import KernelConstant
from microgen.planner.program.external import (
    CFunction,
    CSource,
    DeviceDriver,
    LoadedModule,
    Made,
    Runtime,
    RuntimeFunction,
)
from microgen.planner.program.kernel_call import ctype
from microgen.planner.program.steps import InnerBuffer, NotStored, Output, Step
from microgen.planner.program.types import Parameter, Role
from microgen.relay.blob.payloads.base import PayloadReader
from microgen.relay.expr import Expr, Function, Type
from microgen.relay.transform import Support
from microgen.target.board import Board

__all__ = [
    "CFunction",
    "CSource",
    "DeviceDriver",
    "ExternalCodegen",
    "ExternalFunction",
    "InnerBuffer",
    "LoadedModule",
    "Runtime",
    "RuntimeFunction",
    "Tensor",
]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A parameter or a result of an external function."""

    name: str
    type: ArrayType


@dataclass(frozen=True, slots=True)
class ExternalFunction:
    """A part of the network that one generator compiles.

    ``graph`` is the computation with its constants: the reference for the generator's code, and
    the input of generators for kernel graphs. ``relay``, with ``types``, is the same as a Relay
    function; it is None if the generator took the nodes themselves. ``inputs`` and ``outputs`` are
    in C's order.
    """

    symbol: str
    graph: Graph
    relay: Function | None
    types: Mapping[Expr, Type]
    origin: Origin

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The arguments of a call, in order."""
        return tuple(Tensor(name, self.graph.types[name]) for name in self.graph.inputs)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The results, in order."""
        return tuple(Tensor(name, self.graph.types[name]) for name in self.graph.outputs)

    def declarations(self, made: CFunction) -> list[str]:
        """The C declarations of ``made``'s parameters, in order, without a device's context."""
        ins, outs = ([t.type for t in tensors] for tensors in (self.inputs, self.outputs))
        return [_declaration(p) for p in _parameters(ins, made.constants, outs, made.scratch)]

    @classmethod
    def of(cls, node: Node) -> ExternalFunction:
        """The function of a node of the graph."""
        attrs = node.attrs
        assert isinstance(attrs, ExternalAttrs), "claims has checked it"
        symbol = cnames.identifier(attrs.symbol)
        return cls(symbol, attrs.graph, attrs.function, attrs.types or {}, node.origin)


class ExternalCodegen(abc.ABC):
    """A code generator in addition to the built-in kernels.

    ``name`` is its name for ``--codegen`` and for the attribute ``Compiler`` of functions. The
    first line of its docstring is its title.

    ``support`` says which Relay operators, and which patterns of them, it takes. Other models
    become kernel graphs, and it is asked about the Relay form of their nodes, if they have one.
    With ``takes_nodes`` it is asked about the nodes themselves by ``refusal``. For Relay models, it
    is then also asked about the nodes that no generator has taken.
    ``needs_device_api``: its functions run between the hooks of a device of its name. ``driver``
    implements these hooks. Without one, projects have hooks that only print, to be replaced. The
    driver's header and sources ship with microgen, or are among the ``files`` that it compiles.
    ``runtimes`` are the runtimes of the modules that it makes; it has none if it makes C.
    ``payloads`` are readers of these modules by type key, for ``inspect`` and ``verify``. Without
    them both know only the digest of a payload.
    """

    name: str
    support: Support
    takes_nodes: bool = False
    needs_device_api: bool = False
    driver: DeviceDriver | None = None
    runtimes: tuple[Runtime, ...] = ()
    payloads: Mapping[str, PayloadReader] = MappingProxyType({})

    def configured(self, options: Mapping[str, str]) -> ExternalCodegen:
        """The generator with a user's options, ``--codegen-option <name>.<key>=<value>``. Raises
        MicrogenError for unknown options; by default it knows none."""
        for key in options:
            raise MicrogenError(
                f"{self.name} has no option {key!r}",
                where="--codegen-option",
                hint="leave it out",
            )
        return self

    def refusal(self, node: Node, graph: Graph, board: Board) -> str | None:  # noqa: ARG002
        """The reason why it does not take a node of the kernel graph; None if it does."""
        return f"{self.name} takes only Relay operators"

    @abc.abstractmethod
    def compile(self, functions: Sequence[ExternalFunction], board: Board) -> Sequence[Made]:
        """The results for all functions of a network that belong to this generator. Each function
        must be in exactly one result. Raises UnsupportedError, naming ``origin``, if it cannot
        compile one."""

    def claims(
        self,
        graph: Graph,
        board: Board,  # noqa: ARG002
    ) -> Sequence[Region | Refusal[Node]]:
        """A region for each external function that is the generator's."""
        return [
            Region(self.name, (node,))
            for node in graph.nodes
            if isinstance(node.attrs, ExternalAttrs) and node.attrs.codegen == self.name
        ]

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions, one for each region."""
        nodes = {cnames.identifier(region.function): region.main for region in regions}
        functions = [ExternalFunction.of(node) for node in nodes.values()]
        # Code of others may raise anything; the error then names the generator.
        with of_codegen(self.name, "compile"):
            results = list(self.compile(functions, board))
        check(self.name, [function.symbol for function in functions], results, self.payloads)
        # A generator may give its results in another order than the regions'.
        found: dict[str, Primitive] = {}
        for made in results:
            for function in made.functions:
                node = nodes[function.symbol]
                found[function.symbol] = _primitive(self.name, node, graph, function, made)
        return [found[symbol] for symbol in nodes]


def _primitive(
    codegen: str, node: Node, graph: Graph, function: CFunction | RuntimeFunction, made: Made
) -> Primitive:
    passed = function.constants if isinstance(function, CFunction) else ()
    held = function.constants if isinstance(function, RuntimeFunction) else ()
    scratch = function.scratch if isinstance(function, CFunction) else function.workspace
    inputs, outputs = graph.type_of(node.inputs), graph.type_of(node.outputs)
    return Primitive(
        words=(codegen,),
        target=codegen,
        parameters=_parameters(inputs, passed, outputs, scratch),
        body=(),
        inputs=node.inputs,
        constants=tuple(_constant(node.function, name, array) for name, array in passed),
        outputs=node.outputs,
        output_bytes=tuple(t.nbytes for t in outputs),
        scratch=scratch,
        in_place=(),
        steps=tuple(_steps(codegen, node, graph, function)),
        made=made,
        held=tuple(_constant(node.function, name, array) for name, array in held),
    )


def _steps(
    codegen: str, node: Node, graph: Graph, function: CFunction | RuntimeFunction
) -> Iterator[Step]:
    """A step for each node inside. An output that is not the first result of any node gets a step
    of the function itself."""
    assert isinstance(node.attrs, ExternalAttrs), "claims has checked it"
    inside, reason = node.attrs.graph, f"compiled by {codegen}"
    outputs: dict[str, tuple[int, str]] = {}
    for index, name in enumerate(inside.outputs):
        # A result that is listed twice has the step of its first place.
        outputs.setdefault(name, (index, node.outputs[index]))
    places = function.places if isinstance(function, CFunction) else {}
    unknown = NotStored(f"{codegen} does not say where it is")
    for own in inside.nodes:
        reads = [name for name in own.inputs if name not in inside.constants]
        made = step(own, inside, reads=reads, kernel=function.kernel, reason=reason)
        if made.tensor in outputs:
            index, name = outputs.pop(made.tensor)
            yield replace(made, tensor=name, place=Output(index))
        else:
            yield replace(made, place=places.get(made.tensor, unknown))
    for index, name in outputs.values():
        whole = step(node, graph, reads=node.inputs, kernel=function.kernel, reason=reason)
        yield replace(whole, tensor=name, tensor_type=graph.types[name], place=Output(index))


def _parameters(
    inputs: Sequence[ArrayType],
    constants: Sequence[tuple[str, Array]],
    outputs: Sequence[ArrayType],
    scratch: int,
) -> tuple[Parameter, ...]:
    """The parameters of a C function, in the order that CFunction gives."""
    return (
        *(Parameter(f"in{i}", ctype(t.dtype), Role.INPUT) for i, t in enumerate(inputs)),
        *(Parameter(name, ctype(array.dtype.name), Role.CONSTANT) for name, array in constants),
        *(Parameter(f"out{i}", ctype(t.dtype), Role.OUTPUT) for i, t in enumerate(outputs)),
        *([Parameter("scratch", "uint8_t", Role.SCRATCH)] if scratch else []),
    )


def _declaration(parameter: Parameter) -> str:
    const = "const " if parameter.role in (Role.INPUT, Role.CONSTANT) else ""
    return f"{const}{parameter.ctype} *{parameter.name}"


def _constant(symbol: str, name: str, array: Array) -> KernelConstant:
    return KernelConstant(name, ctype(array.dtype.name), f"{symbol}:{name}", array=array)
