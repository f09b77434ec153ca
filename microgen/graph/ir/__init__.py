"""The typed graph that every frontend produces and every pass rewrites."""

from __future__ import annotations

from microgen.graph.ir.op_attrs import register_op_attr

__all__ = ["register_op_attr"]
