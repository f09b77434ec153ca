"""What a firmware computed, held against the references, layer by layer."""
