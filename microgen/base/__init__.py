"""What every other room uses: errors, files, formats of bytes and text, names, output, manifests.
Nothing here knows a network."""
