"""Importers of ONNX's operators for classical machine learning, of the domain ai.onnx.ml.

Sources: ONNX's specification, and ONNX Runtime's kernels where the specification leaves something
open.
"""
