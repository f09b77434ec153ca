"""Bytes and text that several parts read or write: TVM's arrays and parameter files, streams, JSON
in the exact form of a record, layouts of C structures."""
