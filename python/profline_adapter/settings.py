"""What a call to generate() was asked to do, from its arguments, and what it returned."""

# Inputs of a forward whose shape is (sequences, tokens, ...).
INPUTS = ("input_ids", "inputs_embeds", "decoder_input_ids", "decoder_inputs_embeds")

# Modes in which each forward after prefill makes one token.
ONE_TOKEN_PER_STEP = ("greedy_search", "sample")


def attribute(thing, name):
    """None if it is missing or its property fails."""
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


def shape_of(tensor):
    shape = getattr(tensor, "shape", None)
    return None if shape is None else tuple(int(size) for size in shape)


def forward_shape(args, kwargs):
    for name in INPUTS[2:] + INPUTS[:2]:
        shape = shape_of(kwargs.get(name))
        if shape is not None and len(shape) >= 2:
            return shape
    return shape_of(args[0]) if args else None


def rows_of(args, kwargs):
    """Sequences computed together, beams included."""
    shape = forward_shape(args, kwargs)
    return shape[0] if shape else None


def length_of(kwargs):
    shape = forward_shape((), kwargs)
    return shape[1] if shape and len(shape) > 1 else 0


class Settings:
    def __init__(self, model, args, kwargs):
        self.model = model
        self.kwargs = kwargs
        self.inputs = args[0] if args else kwargs.get("inputs")
        self.config = args[1] if len(args) > 1 else kwargs.get("generation_config")
        self.is_encoder_decoder = bool(attribute(attribute(model, "config"), "is_encoder_decoder"))
        self.mode = self.find_mode()
        self.chunk = self.value("prefill_chunk_size")
        self.prompt_tokens, self.returned_prompt = self.find_prompt()
        self.new_tokens = None
        self.cached_tokens = None
        self.new_tokens_each = None
        self.prompt_tokens_each = None

    def value(self, name):
        """As generate() finds it: a keyword, the given configuration, the model's."""
        for source in (self.kwargs, vars_of(self.config), vars_of(attribute(self.model, "generation_config"))):
            if source.get(name) is not None:
                return source[name]
        return None

    def find_mode(self):
        if self.kwargs.get("custom_generate") is not None:
            return "custom"
        if self.kwargs.get("assistant_model") is not None or self.value("prompt_lookup_num_tokens") or self.value("assistant_early_exit"):
            return "assisted_generation"
        if (self.value("penalty_alpha") or 0) > 0 and (self.value("top_k") or 0) > 1:
            return "contrastive_search"
        beams = self.beams()
        if beams > 1 and self.value("constraints"):
            return "constrained_beam_search"
        if beams > 1 and (self.value("num_beam_groups") or 1) > 1:
            return "group_beam_search"
        if self.value("do_sample"):
            return "beam_sample" if beams > 1 else "sample"
        return "beam_search" if beams > 1 else "greedy_search"

    def beams(self):
        return int(self.value("num_beams") or 1)

    def find_prompt(self):
        """Tokens of the prompt, and how many of them the result repeats."""
        ids = self.inputs if self.inputs is not None else self.kwargs.get("input_ids")
        embeds = shape_of(self.kwargs.get("inputs_embeds"))
        shape = shape_of(ids)
        prompt = shape[1] if shape and len(shape) == 2 else None
        if self.is_encoder_decoder:
            given = shape_of(self.kwargs.get("decoder_input_ids"))
            return prompt, given[1] if given else 1
        if prompt is None and embeds is not None:
            return embeds[1], 0
        if prompt is None and ids is None:
            return 1, 1  # generate() starts from the token that begins a text
        if embeds is not None:
            return max(prompt or 0, embeds[1]), prompt
        return prompt, prompt

    def read_first_forward(self, length):
        """A prompt whose beginning is in the cache already is not computed again."""
        if self.is_encoder_decoder or self.chunk is not None or self.mode not in ONE_TOKEN_PER_STEP:
            return
        if self.prompt_tokens is not None and 0 < length < self.prompt_tokens:
            self.cached_tokens = self.prompt_tokens - length

    def read_result(self, result):
        sequences = getattr(result, "sequences", result)
        shape = shape_of(sequences)
        if shape is None or len(shape) != 2 or self.returned_prompt is None:
            return
        self.new_tokens = max(0, shape[1] - self.returned_prompt)
        if shape[0] > 1 and self.new_tokens > 0:
            self.read_each(sequences)

    def read_each(self, sequences):
        """Sequences of a batch may end earlier than the longest. Everything is computed by now, so reading it is no delay."""
        ends = self.value("eos_token_id")
        ends = set(ends if isinstance(ends, (list, tuple)) else [] if ends is None else [ends])
        if ends:
            rows = sequences[:, self.returned_prompt:].tolist()
            each = [length_until(row, ends) for row in rows]
            self.new_tokens_each = each if len(set(each)) > 1 else None
        mask = self.kwargs.get("attention_mask")
        if len(shape_of(mask) or ()) == 2:
            each = [int(count) for count in mask.sum(1).tolist()]
            self.prompt_tokens_each = each if any(count != self.prompt_tokens for count in each) else None

    def attributes(self):
        values = {"mode": self.mode, "beams": self.beams()}
        assistant = self.kwargs.get("assistant_model")
        if assistant is not None:
            values["assistant"] = type(assistant).__name__
        for name in ("max_new_tokens", "num_return_sequences", "cache_implementation", "prefill_chunk_size", "guidance_scale"):
            value = self.value(name)
            if value is not None:
                values[name] = value
        for name in ("cached_tokens", "new_tokens_each", "prompt_tokens_each"):
            if getattr(self, name) is not None:
                values[name] = getattr(self, name)
        if self.kwargs.get("streamer") is not None:
            values["streamer"] = type(self.kwargs["streamer"]).__name__
        if self.kwargs.get("synced_gpus"):
            values["synced_gpus"] = True
        limit = self.value("max_new_tokens")
        if limit is not None and self.new_tokens is not None:
            values["finish"] = "length" if self.new_tokens >= limit else "eos"
        return values


def vars_of(value):
    if value is None:
        return {}
    return value if isinstance(value, dict) else getattr(value, "__dict__", {})


def length_until(row, ends):
    for index, token in enumerate(row):
        if token in ends:
            return index + 1
    return len(row)
