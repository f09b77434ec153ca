"""The version, which the package's metadata, the manifest and ``--version`` take from here."""

__version__ = "0.1.0"
