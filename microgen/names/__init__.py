"""Rules for names: what C takes, TVM's names, and names of a firmware's modules."""
