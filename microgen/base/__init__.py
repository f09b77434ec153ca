"""The base of all other rooms: errors, files, formats of bytes and text, names, output, manifests.
Nothing here knows a network."""
