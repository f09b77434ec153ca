"""The passes, and the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from microgen.compiler.passes.cancel_layouts import cancel_layouts
from microgen.compiler.passes.dead_channels import dead_channels
from microgen.compiler.passes.dead_code import dead_code
from microgen.compiler.passes.fold_constants import fold_constants
from microgen.compiler.passes.fuse_activation import fuse_activation
from microgen.compiler.passes.inner_graphs import inner_graphs
from microgen.compiler.passes.merge_affine import merge_affine
from microgen.compiler.passes.one_channel import one_channel
from microgen.compiler.passes.own_copies import own_outputs, own_updates
from microgen.compiler.passes.padding import canonical_padding, fold_pad
from microgen.compiler.passes.scale_weights import scale_weights
from microgen.compiler.passes.slide_windows import slide_windows
from microgen.compiler.passes.store_weights import store_weights
from microgen.compiler.passes.tabulate import tabulate
from microgen.compiler.passes.views import merge_views
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Graph
from microgen.graph.ops import budget, registry
from microgen.graph.ops.external import ExternalAttrs

Pass = Callable[[Graph], Graph]


def inside(graph: Graph) -> Graph:
    """The graph after the passes have run on the graphs inside loops and branches. A loop's
    variables are outside of these, so no pass may change their shapes."""
    within = tuple(p for p in DEFAULT_PIPELINE if p not in (dead_channels, slide_windows))
    return inner_graphs(graph, lambda inner: run(inner, within))


DEFAULT_PIPELINE: tuple[Pass, ...] = (
    cancel_layouts,  # comes first, because the changes of layout that it leaves may be constant
    fold_constants,  # then no other pass sees nodes that are constant
    inside,  # constants are known, and move into the graphs inside loops and branches
    one_channel,  # weights are known, and no pass has looked at windows yet
    canonical_padding,  # SAME and VALID become numbers, to which fold_pad adds
    fold_pad,  # a pad with the zero point becomes the window's own padding
    scale_weights,  # factors and offsets per channel move into weights and biases of floats
    merge_affine,  # shortens the chains that no layer took
    fuse_activation,  # a clamp moves into the node that computes its input
    merge_views,  # a chain of reshapes becomes one, a reshape to the same shape disappears
    tabulate,  # functions of one value become tables, which need no kernel of their own
    store_weights,  # weights that the model stores as integers stay integers in flash
    slide_windows,  # a variable and the rows joined to it become one buffer
    dead_code,  # drops nodes that the others left without a reader
    dead_channels,  # then each reader of a channel is needed, and clamps and tables are known
    own_outputs,  # then each output has a node that computes only this output
    own_updates,  # comes last, because copies of outputs may read variables
)


def _inside(graph: Graph, pipeline: tuple[Pass, ...]) -> Graph:
    """The graph after every pass has run on the graph inside each external function, except
    ``dead_channels``, because the code generator compiles the function with all of its channels."""
    within = tuple(step for step in pipeline if step is not dead_channels)
    nodes = tuple(
        replace(node, attrs=replace(node.attrs, graph=run(node.attrs.graph, within)))
        if isinstance(node.attrs, ExternalAttrs)
        else node
        for node in graph.nodes
    )
    return graph.replace(nodes=nodes)


@budget.of_model()
def run(graph: Graph, pipeline: tuple[Pass, ...] = DEFAULT_PIPELINE) -> Graph:
    """The graph after every pass in turn. It is checked before the first pass and after each.

    Raises InternalError if a pass breaks the graph, and UnsupportedError if constants need more
    work than ``microgen.graph.ops.budget`` allows.
    """
    graph = _inside(graph, pipeline)
    verify.check(graph, registry())
    for step in pipeline:
        # A pass that breaks the graph fails here, and not in a later stage that reads its result.
        graph = step(graph)
        verify.check(graph, registry())
    return graph
