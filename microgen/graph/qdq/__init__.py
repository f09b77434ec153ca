"""QDQ rewriting: a layer of floats between a dequantization and a quantization becomes a layer of
integers.

It is a pass, Graph -> Graph, and knows no file format. It runs at the end of an import (ONNX's), so
every reader of a model sees the same network: the compiler, references and reports. So it stands
below frontends. ``recognise.recognised`` is the pass; it follows the graph's order once.
"""
