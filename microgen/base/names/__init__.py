"""Rules for names: those that C allows, TVM's names, and names of a firmware's modules."""
