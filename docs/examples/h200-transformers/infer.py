"""A plain Hugging Face script: Qwen3 with the shapes of Qwen3-0.6B and random weights, so that nothing is downloaded.

    python3 infer.py [--requests 8] [--prompt 512] [--new 64] [--layers 28] [--device cuda]
"""

import argparse
import time

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--requests", type=int, default=8)
parser.add_argument("--prompt", type=int, default=512)
parser.add_argument("--new", type=int, default=64)
parser.add_argument("--layers", type=int, default=28)
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
options = parser.parse_args()

config = Qwen3Config(
    vocab_size=151936,
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=options.layers,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    max_position_embeddings=40960,
    tie_word_embeddings=True,
)
torch.manual_seed(0)
with torch.device(options.device):
    model = Qwen3ForCausalLM(config).to(torch.bfloat16).eval()
prompt = torch.randint(0, config.vocab_size, (1, options.prompt), device=options.device)

for number in range(options.requests):
    start = time.perf_counter()
    output = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=options.new,
        min_new_tokens=options.new,
        do_sample=False,
        pad_token_id=0,
    )
    ids = output[0, options.prompt :].tolist()
    seconds = time.perf_counter() - start
    print(f"request {number}: {seconds:.4f} s, {len(ids)} tokens, last id {ids[-1]}", flush=True)
