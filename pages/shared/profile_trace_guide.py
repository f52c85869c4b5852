"""How a trace comes to have events that can be told apart by layer."""

import streamlit as st

PYTORCH_LABELS = '''\
from torch.profiler import ProfilerActivity, profile, record_function

def label(layer, name):
    """Label forward and backward; the profiler writes labels with the times of the GPU as well."""
    opened = {}

    def begin(what):
        def hook(*_):
            opened[what] = record_function(f"{name} {what}")
            opened[what].__enter__()
        return hook

    def end(what):
        def hook(*_):
            opened.pop(what).__exit__(None, None, None)
        return hook

    layer.register_forward_pre_hook(begin("forward"))
    layer.register_forward_hook(end("forward"))
    layer.register_full_backward_pre_hook(begin("backward"))
    layer.register_full_backward_hook(end("backward"))

for number, layer in enumerate(model.layers):
    label(layer, f"layer {number}")
label(model.embed_tokens, "embedding")  # its forward; nothing waits for its backward
label(model.lm_head, "lm_head")

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    train_a_few_steps()
profiler.export_chrome_trace("trace.json.gz")
'''


def labels_guide(*, expanded: bool) -> None:
    """The recipe, for PyTorch and for MindSpore."""
    with st.expander("How to get such a trace", icon=":material/explore:", expanded=expanded):
        st.markdown(
            "**PyTorch**: label the layers, then trace a few steps **without recomputation**. The profiler's own "
            "names (`nn.Module: DecoderLayer_0`) are times of the host, which issues work before the GPU does it; "
            "labels are there with the times of both, and those of the GPU are taken."
        )
        st.code(PYTORCH_LABELS, language="python")
        st.markdown(
            "**MindSpore**: nothing to add. `trace_view.json` names ops by their scope "
            "(`Default/…/layers/3-DecoderLayer/…`, in the backward `Gradients/Default/…`), or has lanes with an event "
            "for each step of it: `#-DecoderLayer`, in the backward `Gradients > #-DecoderLayer`. Lanes do not say how "
            "often a layer ran: type steps × micro-batches."
        )
