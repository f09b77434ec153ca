"""Whether the first function of a model can get its input a few rows at a time."""

from __future__ import annotations

from microgen.base.errors import UnsupportedError, short
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.rows import tiles

OPTION = "--input-rows"


def readers(partition: Partition) -> int:
    """The number of regions up to the last one that reads an input of the model."""
    graph = partition.graph
    reading = [
        number
        for number, region in enumerate(partition.regions, 1)
        if any(reads_input(node, graph) for node in region.nodes)
    ]
    return max(reading, default=0)


def check(partition: Partition) -> None:
    """Raise UnsupportedError, with the reason, if the model's input is to be fed in rows and cannot
    be."""
    if not partition.fed:
        return
    _check_input(partition.graph)
    first = partition.regions[: readers(partition)]
    for region in first:
        if region.codegen != BUILTIN or len(region.nodes) > 1:
            raise _refused(
                f"{short(str(region.origin))} is not computed by a kernel that gets rows"
            )
    if not first:
        raise _refused("no layer reads the input, so none can wait for its rows")
    _check_group([node for region in first for node in region.nodes], partition)


def _check_input(graph: Graph) -> None:
    """Raise UnsupportedError unless there is one input, and it or a reshape of it has rows."""
    if len(graph.inputs) != 1:
        raise _refused(f"the model has {len(graph.inputs)} inputs, and only one can be fed in rows")
    (name,) = graph.inputs
    bytes_of = roots(graph)
    # A model may declare a flat input, and reshape it into an image first.
    seen = [kind for other, kind in graph.types.items() if bytes_of[other] == name]
    if not any(len(kind.shape) == 4 and kind.shape[0] == 1 for kind in seen):
        kind = graph.types[name]
        raise _refused(f"the input, {kind}, has no rows: expected [1, rows, columns, channels]")


def _check_group(nodes: list[Node], partition: Partition) -> None:
    """Check the shortest function that has all layers that read the input."""
    try:
        group = tiles.of(nodes, partition.graph, [1] * len(nodes), partition.fed)
    except ValueError as error:
        raise _refused(f"the first layers need the whole input: {error}") from error
    (name,) = group.outside
    height = partition.graph.types[name].shape[1]
    if partition.fed > height:
        raise _refused(
            f"{partition.fed} rows at a time are more than the {height} that the input has",
            hint=f"give 1 to {height}",
        )


def check_fed(partition: Partition) -> None:
    """Raise UnsupportedError if no function of a schedule gets the input in the requested rows."""
    if partition.fed and not any(region.fed for region in partition.regions):
        raise no_function()


def no_function() -> UnsupportedError:
    """The error for a schedule without a function that gets the input in rows."""
    return _refused("no function computes the first layers in rows, so none can get the input so")


def reads_input(node: Node, graph: Graph) -> bool:
    """Whether the node reads the bytes of an input of the model."""
    bytes_of = roots(graph)
    return any(bytes_of[name] in graph.inputs for name in node.inputs)


def _refused(
    what: str, hint: str = "leave it out, so that the caller passes whole inputs"
) -> UnsupportedError:
    return UnsupportedError(what, where=OPTION, hint=hint)
