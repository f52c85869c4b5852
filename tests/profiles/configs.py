"""What `config.json` of each family says, from their public model cards; only keys that matter, and some that do not."""

CONFIGS = {
    # huggingface.co/meta-llama/Meta-Llama-3-8B
    "llama": {
        "architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 128000,
        "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 8192,
        "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "rms_norm_eps": 1e-05, "rope_scaling": None, "rope_theta": 500000.0, "tie_word_embeddings": False,
        "torch_dtype": "bfloat16", "vocab_size": 128256,
    },
    # huggingface.co/mistralai/Mistral-7B-v0.1
    "mistral": {
        "architectures": ["MistralForCausalLM"], "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
        "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "sliding_window": 4096, "tie_word_embeddings": False, "vocab_size": 32000,
    },
    # huggingface.co/mistralai/Mixtral-8x7B-v0.1
    "mixtral": {
        "architectures": ["MixtralForCausalLM"], "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
        "model_type": "mixtral", "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32,
        "num_key_value_heads": 8, "num_local_experts": 8, "sliding_window": None, "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    # huggingface.co/Qwen/Qwen2-7B
    "qwen2": {
        "architectures": ["Qwen2ForCausalLM"], "hidden_act": "silu", "hidden_size": 3584, "intermediate_size": 18944,
        "model_type": "qwen2", "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
        "sliding_window": 131072, "tie_word_embeddings": False, "use_sliding_window": False, "vocab_size": 152064,
    },
    # huggingface.co/Qwen/Qwen3-32B
    "qwen3": {
        "architectures": ["Qwen3ForCausalLM"], "attention_bias": False, "head_dim": 128, "hidden_act": "silu",
        "hidden_size": 5120, "intermediate_size": 25600, "model_type": "qwen3", "num_attention_heads": 64,
        "num_hidden_layers": 64, "num_key_value_heads": 8, "sliding_window": None, "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    # huggingface.co/Qwen/Qwen3-30B-A3B
    "qwen3_moe": {
        "architectures": ["Qwen3MoeForCausalLM"], "attention_bias": False, "decoder_sparse_step": 1, "head_dim": 128,
        "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [],
        "model_type": "qwen3_moe", "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128,
        "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4, "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    # huggingface.co/deepseek-ai/DeepSeek-V3
    "deepseek_v3": {
        "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": False, "ep_size": 1, "first_k_dense_replace": 3,
        "hidden_act": "silu", "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
        "model_type": "deepseek_v3", "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
        "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "quantization_config": {"fmt": "e4m3", "quant_method": "fp8"},
        "tie_word_embeddings": False, "v_head_dim": 128, "vocab_size": 129280,
    },
}  # fmt: skip

PARAMETERS = {
    # Billions, from the same model cards.
    "llama": 8.03, "mistral": 7.24, "mixtral": 46.7, "qwen2": 7.62, "qwen3": 32.8, "qwen3_moe": 30.5, "deepseek_v3": 671,
}  # fmt: skip
