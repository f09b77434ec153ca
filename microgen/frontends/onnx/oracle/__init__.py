"""ONNX Runtime as the oracle of ``.onnx`` files, and the bounds of its distance from the ops'
references.
"""
