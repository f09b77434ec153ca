"""The code generators that TVM's documents describe. Each is found like those of other packages."""
