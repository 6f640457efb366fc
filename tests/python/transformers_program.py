"""An unmodified program that generates in every way transformers knows; run by transformers_test.py, with and without profline.

Prints one JSON line per way: its name, the ids, and the wall time of the call on the program's own clock; or only its name, if this
release of transformers does not know it.
"""

import json
import os
import sys
import threading
import time

import torch
import transformers
from transformers import (GenerationConfig, LlamaConfig, LlamaForCausalLM, LogitsProcessor, PreTrainedTokenizerFast, StoppingCriteria,
                          T5Config, T5ForConditionalGeneration, TextIteratorStreamer, pipeline)

torch.set_num_threads(1)
SHAPE = {"vocab_size": 320, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "eos_token_id": None, "bos_token_id": 1, "pad_token_id": 0}


def llama(**changes):
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**{**SHAPE, **changes})).eval()


def show(name, run):
    torch.manual_seed(1)
    begin = time.perf_counter_ns()
    ids = failed = None
    try:
        result = run()
        ids = getattr(result, "sequences", result)
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
    except BaseException as error:
        failed = type(error).__name__
    print(json.dumps({"name": name, "ids": ids, "failed": failed, "wall_ns": time.perf_counter_ns() - begin}), flush=True)


def show_if(known, name, run):
    if known:
        show(name, run)
    else:
        print(json.dumps({"name": name, "unknown": True}), flush=True)


def knows(setting):
    return hasattr(GenerationConfig(), setting)


def qwen3():
    if not hasattr(transformers, "Qwen3Config"):
        return None
    config = transformers.Qwen3Config(**SHAPE, head_dim=16, tie_word_embeddings=True)
    return transformers.Qwen3ForCausalLM(config).eval().to(torch.bfloat16)


class StopAt13(StoppingCriteria):
    def __call__(self, ids, scores, **kwargs):
        return torch.full((ids.shape[0],), ids.shape[1] >= 13)


class FailAt12(LogitsProcessor):
    def __call__(self, ids, scores):
        if ids.shape[1] == 12:
            raise KeyboardInterrupt
        return scores


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(320)}, unk_token="w3"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, eos_token="w2", pad_token="w0")


def in_threads(model, ids):
    results = [None] * 3

    def work(index):
        results[index] = model.generate(ids, max_new_tokens=8).tolist()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def streamed(model, ids):
    streamer = TextIteratorStreamer(tokenizer())
    thread = threading.Thread(target=model.generate, args=(ids[:1],), kwargs={"max_new_tokens": 8, "streamer": streamer})
    thread.start()
    text = "".join(streamer)
    thread.join()
    return text


def main():
    model, assistant = llama(), llama(hidden_size=32)
    ids = torch.randint(3, 320, (2, 10), generator=torch.Generator().manual_seed(5))
    eight = {"max_new_tokens": 8}
    show("greedy", lambda: model.generate(ids, **eight))
    show("one token", lambda: model.generate(ids, max_new_tokens=1))
    show("sample", lambda: model.generate(ids, do_sample=True, num_return_sequences=3, **eight))
    show("configuration", lambda: model.generate(ids, GenerationConfig(max_new_tokens=5, do_sample=True, pad_token_id=0)))
    show("beams", lambda: model.generate(ids, num_beams=3, **eight))
    show("assisted", lambda: model.generate(ids[:1], assistant_model=assistant, **eight))
    show_if(knows("assistant_early_exit"), "early exit", lambda: model.generate(ids[:1], assistant_early_exit=1, **eight))
    show_if(knows("prefill_chunk_size"), "chunks", lambda: model.generate(ids, prefill_chunk_size=4, **eight))
    show("static cache", lambda: model.generate(ids, cache_implementation="static", **eight))
    show("no cache", lambda: model.generate(ids, use_cache=False, **eight))
    show("dictionary", lambda: model.generate(ids, return_dict_in_generate=True, output_scores=True, **eight))
    show("embeddings", lambda: model.generate(inputs_embeds=model.get_input_embeddings()(ids), **eight))
    show("from nothing", lambda: model.generate(**eight))
    show("guidance", lambda: model.generate(ids[:1], guidance_scale=1.5, **eight))
    show("stopped", lambda: model.generate(ids, stopping_criteria=[StopAt13()], **eight))
    mask = torch.ones_like(ids)
    mask[1, :4] = 0
    first = model.generate(ids, max_new_tokens=3)[0, 12].item()
    show("ends early", lambda: model.generate(input_ids=ids, attention_mask=mask, eos_token_id=first, **eight))
    before = model.generate(ids, return_dict_in_generate=True, **eight)
    longer = torch.cat([before.sequences, ids[:, :3]], 1)
    show("continued", lambda: model.generate(longer, past_key_values=before.past_key_values, **eight))
    show("wrong argument", lambda: model.generate(ids, nonsense=3, **eight))
    show("interrupted", lambda: model.generate(ids, logits_processor=[FailAt12()], **eight))
    show("threads", lambda: in_threads(model, ids))
    show("streamed", lambda: streamed(model, ids))
    writer = pipeline("text-generation", model=model, tokenizer=tokenizer())
    show("pipeline", lambda: [one["generated_text"] for one in writer("w5 w6 w7", **eight)])
    t5 = T5ForConditionalGeneration(T5Config(vocab_size=320, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                                             decoder_start_token_id=0, eos_token_id=None)).eval()
    show("encoder and decoder", lambda: t5.generate(ids, **eight))
    qwen = qwen3()
    show_if(qwen is not None, "qwen3", lambda: qwen.generate(ids, **eight))
    for number in range(3):
        show(f"long {number}", lambda: model.generate(ids, max_new_tokens=64))
    if "--compile" in sys.argv:
        compiled(ids, eight)
    if os.fork() == 0:
        show("forked", lambda: model.generate(ids, **eight))
        os._exit(0)
    os.wait()


def compiled(ids, eight):
    """With a backend that needs no C++ compiler."""
    eager = {"backend": "eager", "fullgraph": True}
    one, two, three = llama(), llama(), llama()
    one.forward = torch.compile(one.forward, **eager)
    show("compiled forward", lambda: one.generate(ids, **eight))
    two.compile(**eager)
    show("compiled model", lambda: two.generate(ids, cache_implementation="static", **eight))
    three._valid_auto_compile_criteria = lambda *args, **kwargs: True  # as on a GPU
    for name in ("compiled by generate", "compiled before"):
        show(name, lambda: three.generate(ids, cache_implementation="static", compile_config=transformers.CompileConfig(mode=None, **eager), **eight))


main()
