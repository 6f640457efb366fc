"""A tiny llama with random weights as GGUF v3, with nothing but Python's own library. Any text is a prompt: tokens are bytes."""

import array
import random
import struct

LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT = 2, 64, 4, 2, 128, 4096
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9


def text(value):
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def number(key, value):
    return entry(key, U32, struct.pack("<I", value))


def listing(key, kind, items, pack):
    return entry(key, ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(map(pack, items)))


def metadata(tokens):
    kinds = [2, 3, 3] + [6] * 256 + [1] * (len(tokens) - 259)
    return [
        entry("general.architecture", STRING, text("llama")),
        entry("general.name", STRING, text("tiny")),
        number("llama.context_length", CONTEXT),
        number("llama.embedding_length", WIDTH),
        number("llama.block_count", LAYERS),
        number("llama.feed_forward_length", HIDDEN),
        number("llama.attention.head_count", HEADS),
        number("llama.attention.head_count_kv", KV_HEADS),
        entry("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        number("llama.rope.dimension_count", WIDTH // HEADS),
        entry("tokenizer.ggml.model", STRING, text("llama")),
        listing("tokenizer.ggml.tokens", STRING, tokens, text),
        listing("tokenizer.ggml.scores", F32, [-float(i) for i in range(len(tokens))], lambda v: struct.pack("<f", v)),
        listing("tokenizer.ggml.token_type", I32, kinds, lambda v: struct.pack("<i", v)),
        number("tokenizer.ggml.bos_token_id", 1),
        number("tokenizer.ggml.eos_token_id", 2),
        number("tokenizer.ggml.unknown_token_id", 0),
    ]


def weights(vocabulary):
    """Name, shape as GGUF counts it (fastest first) and values of each tensor."""
    random_numbers = random.Random(7)

    def matrix(name, rows, columns, scale):
        values = array.array("f", (random_numbers.gauss(0, scale) for _ in range(rows * columns)))
        return name, (columns, rows), values

    def ones(name):
        return name, (WIDTH,), array.array("f", [1.0] * WIDTH)

    keys = KV_HEADS * (WIDTH // HEADS)
    tensors = [matrix("token_embd.weight", vocabulary, WIDTH, 1.0), ones("output_norm.weight"),
               matrix("output.weight", vocabulary, WIDTH, 0.2)]
    shapes = (("attn_q", WIDTH, WIDTH), ("attn_k", keys, WIDTH), ("attn_v", keys, WIDTH), ("attn_output", WIDTH, WIDTH),
              ("ffn_gate", HIDDEN, WIDTH), ("ffn_up", HIDDEN, WIDTH), ("ffn_down", WIDTH, HIDDEN))
    for layer in range(LAYERS):
        place = f"blk.{layer}."
        tensors += [ones(place + "attn_norm.weight"), ones(place + "ffn_norm.weight")]
        tensors += [matrix(f"{place}{name}.weight", rows, columns, 0.05) for name, rows, columns in shapes]
    return tensors


def padding(size):
    return b"\0" * (-size % 32)


def write_model(path):
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + list("\u2581abcdefghijklmnopqrstuvwxyz.,")
    tensors = weights(len(tokens))
    infos, offset = b"", 0
    for name, shape, values in tensors:
        infos += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        infos += struct.pack("<IQ", 0, offset)
        offset += len(values) * 4 + len(padding(len(values) * 4))
    entries = metadata(tokens)
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + infos
    with open(path, "wb") as out:
        out.write(start + padding(len(start)))
        for _, _, values in tensors:
            data = values.tobytes()
            out.write(data + padding(len(data)))
