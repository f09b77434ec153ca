"""DNNL's codegen: functions as JSON graphs, which a runtime of TVM's type key dnnl_json runs."""
