"""TVM's own file formats and the code generators of its documents, which plug in like a user's."""
