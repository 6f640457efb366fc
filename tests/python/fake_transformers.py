"""A torch and a transformers of a few lines, for what the real ones cannot be brought to do."""

from support import ProgramTest

FAKE_TORCH = """
__version__ = "0.0"
class nn:
    class Module:
        _compiled_call_impl = None
        def __call__(self, *args, **kwargs):
            return self._compiled_call_impl(*args, **kwargs) if self._compiled_call_impl else self._call_impl(*args, **kwargs)
        def _call_impl(self, *args, **kwargs):
            return self.forward(*args, **kwargs)
        def parameters(self):
            return iter(())
        buffers = modules = parameters
"""
FAKE_UTILS = """
class Ids:
    def __init__(self, rows, columns):
        self.shape = (rows, columns)
    def tolist(self):
        return [[0] * self.shape[1]] * self.shape[0]
    def __getitem__(self, key):
        return Ids(self.shape[0], self.shape[1] - key[1].start)
class GenerationMixin:
    def generate(self, inputs=None, generation_config=None, max_new_tokens=4, **kwargs):
        for step in range(max_new_tokens):
            self(input_ids=Ids(inputs.shape[0], inputs.shape[1] if step == 0 else 1))
        return Ids(inputs.shape[0], inputs.shape[1] + max_new_tokens)
"""
MODEL = """
import torch
from transformers.generation.utils import GenerationMixin, Ids
class Model(torch.nn.Module, GenerationMixin):
    def forward(self, input_ids):
        pass
"""


class FakeTransformersTest(ProgramTest):
    def fake_transformers(self, utils=FAKE_UTILS):
        self.write("torch.py", FAKE_TORCH)
        self.write("transformers/__init__.py", "__version__ = '4.40.0'\n")
        self.write("transformers/generation/__init__.py", "")
        self.write("transformers/generation/utils.py", utils)
