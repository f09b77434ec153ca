"""DNNL's codegen: functions as JSON graphs, which a runtime of TVM's type key dnnl_json runs."""

from microgen.codegens.dnnl.codegen import Dnnl

CODEGEN = Dnnl()
