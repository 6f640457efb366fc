"""What a model is: its configuration, and its parameters as they are in memory."""

import threading
import weakref

from profline_adapter import forwards, recording
from profline_adapter.plain import plain

_lock = threading.RLock()
_ids = weakref.WeakKeyDictionary()  # model: the id of its line
_count = 0


def model_id(model):
    """The id of the model's line, which is written the first time."""
    global _count
    with _lock:
        known = _ids.get(model)
        if known is not None:
            return known
        known = _ids[model] = _count
        _count += 1
    line = {"kind": "model", "id": known}
    line.update(described(model))
    recording.write(line)
    return known


def forget():
    """A forked child writes the lines again, into its own file."""
    global _count, _lock
    _lock = threading.RLock()
    _ids.clear()
    _count = 0


recording.in_forked_child(forget)


def described(model):
    config = getattr(model, "config", None)
    line = {
        "class": type(model).__name__,
        "config": configuration(config),
        "parameters": parameters(model),
        "buffers_bytes": sum(stored_bytes(buffer) for buffer in model.buffers()),
        "dtype": plain(getattr(model, "dtype", None)),
        "device": str(getattr(model, "device", None)),
        "quantization": quantization(model, config),
        "compiled": is_compiled(model),
        "attention": plain(getattr(config, "_attn_implementation", None)),
    }
    devices = placed_on(model)
    if len(devices) > 1:
        line["devices"] = devices
    return line


def configuration(config):
    if config is None:
        return {}
    values = config.to_dict() if hasattr(config, "to_dict") else vars(config)
    return plain(values)


def parameters(model):
    """Elements and bytes, each parameter counted once however many modules use it.

    A weight packed by quantisation counts with the elements it stands for and the bytes it takes.
    """
    count = stored = tied = 0
    by_dtype = {}
    seen = set()
    for parameter in model.parameters():
        elements = logical_elements(parameter)
        same = identity(parameter)
        if same in seen:
            tied += elements
            continue
        seen.add(same)
        count += elements
        stored += stored_bytes(parameter)
        name = stored_as(parameter)
        by_dtype[name] = by_dtype.get(name, 0) + elements
    tied += sum(logical_elements(parameter) for parameter in tied_objects(model))
    return {"count": count, "bytes": stored, "by_dtype": dict(sorted(by_dtype.items())), "tied": tied}


def identity(parameter):
    """The same for two parameters that share their memory."""
    try:
        address = parameter.data_ptr()
    except Exception:  # a wrapped tensor has no memory of its own
        address = 0
    return (address, parameter.device, parameter.shape) if address else id(parameter)


def tied_objects(model):
    """The further uses of a parameter object that several modules share."""
    seen = set()
    for module in model.modules():
        for parameter in module._parameters.values():
            if parameter is None:
                continue
            if id(parameter) in seen:
                yield parameter
            seen.add(id(parameter))


def logical_elements(parameter):
    """bitsandbytes packs two 4-bit weights into a byte and keeps the real shape beside them."""
    shape = getattr(getattr(parameter, "quant_state", None), "shape", None)
    if shape is None:
        return parameter.numel()
    elements = 1
    for size in shape:
        elements *= int(size)
    return elements


def stored_as(parameter):
    """The dtype in memory: `nf4` or `fp4` for bitsandbytes, the class for a quantised tensor of torchao."""
    kind = getattr(getattr(parameter, "quant_state", None), "quant_type", None)
    if kind:
        return str(kind)
    if inner_tensors(parameter):
        return type(getattr(parameter, "data", parameter)).__name__
    return plain(parameter.dtype)


def stored_bytes(tensor):
    inner = inner_tensors(tensor)
    if inner:
        return sum(stored_bytes(part) for part in inner)
    return tensor.numel() * tensor.element_size() + quant_state_bytes(getattr(tensor, "quant_state", None))


def inner_tensors(tensor):
    """The tensors that a wrapper subclass holds; empty for a plain tensor."""
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is None:
        return []
    return [part for part in (getattr(tensor, name, None) for name in flatten()[0]) if hasattr(part, "element_size")]


def quant_state_bytes(state):
    """Scales of bitsandbytes, which may be quantised themselves."""
    if state is None:
        return 0
    total = 0
    for name in ("absmax", "code", "offset"):
        part = getattr(state, name, None)
        if hasattr(part, "element_size"):
            total += part.numel() * part.element_size()
    return total + quant_state_bytes(getattr(state, "state2", None))


def quantization(model, config):
    """The model's own description, or the kinds of quantised weights found; None without quantisation."""
    described = getattr(config, "quantization_config", None)
    if described is not None:
        return plain(described, "quantization_config")
    kinds = sorted({stored_as(p) for p in model.parameters() if is_quantised(p)})
    return {"weights": kinds} if kinds else None


def is_quantised(parameter):
    return (
        getattr(parameter, "quant_state", None) is not None
        or bool(inner_tensors(parameter))
        or "float8" in str(parameter.dtype)
        or str(parameter.dtype) in ("torch.int8", "torch.uint8")
    )


def is_compiled(model):
    """True if the model's forward was compiled by the program or by generate()."""
    if getattr(model, "_compiled_call", None) is not None or forwards.compiled_call(model) is not None:
        return True
    return hasattr(getattr(model, "forward", None), "_torchdynamo_orig_callable")


def placed_on(model):
    placement = getattr(model, "hf_device_map", None)
    if isinstance(placement, dict):
        return sorted({str(device) for device in placement.values()})
    return []
