"""Any value as JSON that every reader accepts, without secrets and without folders of the machine."""

import math
import os
import re

from profline_adapter.recording import clean

# Keys whose value is a secret. `eos_token_id`, `image_token_index` and the like are not.
SECRET_KEY = re.compile(r"secret|passw|api_?key|credential|authorization|(^|_)(auth|hf|access|refresh|bearer)_?token$|^token$", re.I)
SECRET_VALUE = re.compile(r"\b(hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{8,})|://[^/@\s]+:[^/@\s]+@")
# Keys whose value is a folder or a name on a hub: only its last part is kept.
PATH_KEY = re.compile(r"name_or_path$|_path$|_dir$|_file$")
# Names of labels and the like: a long table says nothing about costs.
LONGEST = 512
DEEPEST = 12


def plain(value, key="", depth=0):
    if value is None or isinstance(value, bool):
        return value
    if SECRET_KEY.search(key):
        return "<redacted>"
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return plain_text(value, key)
    if depth >= DEEPEST:
        return type(value).__name__
    if isinstance(value, dict):
        items = list(value.items())[:LONGEST] if len(value) <= LONGEST else []
        return {clean(str(name)): plain(item, str(name), depth + 1) for name, item in items}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, key, depth + 1) for item in list(value)[:LONGEST]]
    if hasattr(value, "to_dict"):
        return plain(value.to_dict(), key, depth + 1)
    # torch.bfloat16, and values of an enum.
    text = str(getattr(value, "value", value))
    return plain_text(text[6:] if text.startswith("torch.") else text, key)


def plain_text(text, key):
    if SECRET_VALUE.search(text):
        return "<redacted>"
    if PATH_KEY.search(key):
        text = os.path.basename(text.rstrip("/"))
    return clean(text[:4096])
