"""DNNL's codegen: functions become JSON graphs for a runtime with TVM's type key dnnl_json."""

from microgen.tvm.codegens.dnnl.codegen import Dnnl

CODEGEN = Dnnl()
