"""QDQ rewriting: a layer of floats between a dequantization and a quantization becomes a layer of
integers.

It is a pass, Graph -> Graph, and knows no file format. It runs at the end of an import (ONNX's), so
that the compiler, references and reports all see the same network. Because frontends call it, this
room is below frontends. ``recognise.recognised`` is the pass; it follows the graph's order once.
"""
