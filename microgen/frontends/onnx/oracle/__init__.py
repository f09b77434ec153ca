"""ONNX Runtime as the oracle of ``.onnx`` files, and how far it is from the ops' references."""
