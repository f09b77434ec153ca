"""The code generators that TVM's documents describe. microgen finds them like the code generators
of other packages."""
