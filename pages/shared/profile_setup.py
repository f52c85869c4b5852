"""The training setup of an estimate: sizes, parallelism, device."""

import streamlit as st

from sapp_core.profiles.catalog import known_devices
from sapp_core.profiles.model_shape import Experts, ModelShape, common_divisors, divided_sizes
from sapp_core.profiles.training_setup import MAX_SIZE, Device, NumberFormat, TrainingSetup

_OWN_DEVICE = "Another device"
_DEFAULT_LENGTH = 4096
_DEFAULT_SPLIT = 8
_FIRST_DEVICE = "NVIDIA H100 SXM"


def setup_controls(shape: ModelShape) -> TrainingSetup:
    """All controls; sizes that have to divide those of the model begin at legal values and start over with it."""
    st.subheader("Training setup", anchor=False)
    device = _device()
    length, batch, number_format, efficiency = st.columns(4)
    sequence_length = length.number_input(
        "Sequence length (tokens)", 1, MAX_SIZE, _DEFAULT_LENGTH, key="setup_length", persist_state="session",
        help="Tokens of a sequence; attention costs grow with its square.",
    )  # fmt: skip
    micro_batch = batch.number_input(
        "Micro-batch size (sequences)", 1, MAX_SIZE, 1, key="setup_batch", persist_state="session",
        help="Sequences that one forward and backward takes.",
    )  # fmt: skip
    chosen_format = number_format.selectbox(
        "Number format", [str(known) for known in NumberFormat], key="setup_format", persist_state="session",
        help="Of matrix products and activations. Gradients are summed in fp32.",
    )  # fmt: skip
    percent = efficiency.number_input(
        "Efficiency (%)", 1.0, 100.0, 45.0, 1.0, format="%.3g", key="setup_efficiency", persist_state="session",
        help="Share of the device's peak that matrix products reach; 40 to 55 % is usual for large models.",
    )  # fmt: skip
    own = _key(shape)
    tensor, expert, data, flags = st.columns(4)
    split = tensor.number_input(
        "Tensor parallel (devices)", 1, MAX_SIZE, _largest_split(shape), key=f"setup_tensor{own}",
        persist_state="session", help="Devices that share the matrices of a layer.",
    )  # fmt: skip
    experts = expert.number_input(
        "Expert parallel (devices)", 1, MAX_SIZE, _largest_expert_split(shape), key=f"setup_expert{own}",
        persist_state="session", help="Devices that share the experts; it divides data parallel. 1 without experts.",
    )  # fmt: skip
    replicas = data.number_input(
        "Data parallel (replicas)", 1, MAX_SIZE, _DEFAULT_SPLIT, key="setup_data", persist_state="session",
        help="Copies of the whole pipeline; with a sharded optimizer each keeps its share of the state.",
    )  # fmt: skip
    with flags:
        sequence = st.checkbox(
            "Sequence parallel", value=True, key="setup_sequence", persist_state="session",
            help="Tensor-parallel devices also share what lies between the matrices.",
        )  # fmt: skip
        sharded = st.checkbox(
            "Sharded optimizer", value=True, key="setup_sharded", persist_state="session",
            help="Replicas share the optimizer's state (ZeRO-1).",
        )  # fmt: skip
        flash = st.checkbox(
            "Flash attention", value=True, key="setup_flash", persist_state="session",
            help="The kernel keeps no attention scores and skips what causal attention masks.",
        )  # fmt: skip
    return TrainingSetup(
        device=device,
        sequence_length=int(sequence_length),
        micro_batch_size=int(micro_batch),
        tensor_parallel=int(split),
        sequence_parallel=sequence,
        expert_parallel=int(experts),
        data_parallel=int(replicas),
        sharded_optimizer=sharded,
        number_format=NumberFormat(chosen_format),
        efficiency=float(percent) / 100,
        flash_attention=flash,
    )


def _device() -> Device:
    devices = {device.name: device for device in _known_devices()}
    options = [*devices, _OWN_DEVICE]
    name = st.selectbox(
        "Device", options, index=options.index(_FIRST_DEVICE), key="setup_device", persist_state="session",
        help="Peak and memory of the accelerator; the table below has the numbers and their sources.",
    )  # fmt: skip
    if name == _OWN_DEVICE:
        half, single, memory = st.columns(3)
        half_tflops = half.number_input(
            "Peak in bf16 and fp16 (TFLOP/s)", 0.1, 1e6, 300.0, key="device_half", persist_state="session",
            help="Dense matrix products, without sparsity.",
        )  # fmt: skip
        single_tflops = single.number_input(
            "Peak in fp32 (TFLOP/s)", 0.1, 1e6, 20.0, key="device_single", persist_state="session",
            help="Dense matrix products in single precision.",
        )  # fmt: skip
        memory_gb = memory.number_input(
            "Memory (GB)", 1.0, 1e6, 64.0, key="device_memory", persist_state="session",
            help="GB of 10⁹ bytes; becomes the memory limit of a stage.",
        )  # fmt: skip
        return Device(_OWN_DEVICE, half_tflops, single_tflops, memory_gb, source="")
    with st.expander("Table of devices", icon=":material/memory:"):
        st.dataframe(
            {
                "Device": list(devices),
                "bf16, fp16 TFLOP/s": [device.half_tflops for device in devices.values()],
                "fp32 TFLOP/s": [device.single_tflops for device in devices.values()],
                "Memory GB": [device.memory_gb for device in devices.values()],
                "Source": [device.source for device in devices.values()],
            },
            hide_index=True,
        )
    return devices[name]


@st.cache_resource(show_spinner=False)
def _known_devices() -> tuple[Device, ...]:
    return known_devices()


def _largest_split(shape: ModelShape) -> int:
    legal = common_divisors(*divided_sizes(shape).values(), _DEFAULT_LENGTH)
    return max(size for size in legal if size <= _DEFAULT_SPLIT)


def _largest_expert_split(shape: ModelShape) -> int:
    counts = [block.feed_forward.num_experts for block in shape.blocks if isinstance(block.feed_forward, Experts)]
    return max(common_divisors(*counts, _DEFAULT_SPLIT)) if counts else 1


def _key(shape: ModelShape) -> str:
    """Of what the defaults depend on: another model of the same sizes keeps what was chosen."""
    return f"_{_largest_split(shape)}_{_largest_expert_split(shape)}"
