from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.profile import LayerKind, LayerProfile, ModelProfile, RecomputeMode, TrainingShape
from sapp_core.domain.sequence_split import split_along_sequence, split_sizes
from sapp_core.errors import PipelineError

SHAPE = TrainingShape(
    batch_size=8, num_heads=32, seq_length=8192, head_dim=128, hidden_size=4096, vocab_size=32000, model_parallel=4
)
PROFILE = ModelProfile(
    "seq",
    (
        LayerProfile("Head", LayerKind.HEAD, 1, 30.0, (60.0,) * 5, 5288.0, (0.0, None, None, None, None)),
        LayerProfile("Body", LayerKind.BODY, 16, 180.0, (360.0,) * 5, 368.0, (4229.0, 4098.0, None, None, 32.0)),
        LayerProfile("Tail", LayerKind.TAIL, 1, 90.0, (180.0,) * 5, 10030.0, (0.0, None, None, None, None)),
    ),
    training=SHAPE,
)


def test_sizes_follow_the_training_shape():
    # 8 × 8,192 tokens × 32 heads × 128 × 2 bytes / 4 = 128 MiB of keys; 4 bytes × tokens × 32,000 / 4 = 2,000 MiB.
    sizes = split_sizes(SHAPE)
    assert (sizes.key_mb, sizes.head_mb, sizes.loss_mb) == (128.0, 768.0, 2000.0)
    # Without tensor parallelism: 2 bytes × tokens × (4,096 + 11,008).
    assert split_sizes(replace(SHAPE, model_parallel=1)).head_mb == 1888.0
    assert split_sizes(replace(SHAPE, model_parallel=1, intermediate_size=4096)).head_mb == 1024.0


@given(st.integers(2, 16))
def test_a_split_holds_its_share_and_all_keys_and_values(splits):
    head, body, tail = split_along_sequence(PROFILE, splits).layers
    assert body.activation_mb[0] / splits == pytest.approx((4229 - 256) / splits + 256)
    assert body.activation_mb[1] / splits == pytest.approx((4098 - 256) / splits + 256)
    assert body.parameter_mb == 368 + 4 * 128
    assert head.parameter_mb == pytest.approx(5288 - (1 - 1 / splits) * 768)
    assert tail.parameter_mb == pytest.approx(max(0.0, 10030 - (3 - 3 / splits) * 2000 + (splits - 1) * 2000 / splits))


def test_full_recomputation_is_left_out():
    assert split_along_sequence(PROFILE, 2).modes == (RecomputeMode.NONE, RecomputeMode.SELECT)


def test_one_split_changes_nothing():
    profile = replace(PROFILE, training=None)
    assert split_along_sequence(profile, 1) is profile


def test_missing_sizes_are_all_named():
    for training in (None, replace(SHAPE, num_heads=None, vocab_size=None)):
        with pytest.raises(PipelineError) as caught:
            split_along_sequence(replace(PROFILE, training=training), 2)
        assert "training.num_heads" in str(caught.value)
        assert "training.vocab_size" in str(caught.value)
    assert "training.batch_size" not in str(caught.value)


def test_a_profile_with_full_recomputation_only_cannot_be_split():
    body = replace(PROFILE.body[0], activation_mb=(None, None, None, None, 32.0))
    with pytest.raises(PipelineError, match="only full recomputation"):
        split_along_sequence(replace(PROFILE, layers=(body,)), 2)
