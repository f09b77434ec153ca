"""Rules for names: valid names in C, TVM's names, and names of a firmware's modules."""
