"""From a torch.nn.Module and back, by the converter of examples/from_pytorch, which a wheel has as unetc/_from_pytorch."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import sys
import tempfile
from typing import Any, Callable, Iterator, List, Tuple

from . import _tools
from ._errors import Error, ToolError, UsageError

PLACES = (os.path.join(_tools.HERE, "_from_pytorch"),
          os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(_tools.HERE))), "examples", "from_pytorch"))


class ConversionError(Error):
    """The language has no words for a module; the text names it, its line, and what to do."""


def _converter() -> Any:
    """The module from_pytorch, and with it the package converter."""
    if "from_pytorch" not in sys.modules:
        place = next((place for place in PLACES if os.path.isdir(os.path.join(place, "converter"))), None)
        if place is None:
            raise ToolError("the converter is not installed: there is no %s" % PLACES[0])
        sys.path.insert(0, place)
        try:
            import from_pytorch
        finally:
            sys.path.remove(place)
    return sys.modules["from_pytorch"]


@contextlib.contextmanager
def _with_compiler() -> Iterator[None]:
    """The converter asks unetc for the words of the language, and finds it by its variable."""
    before = os.environ.get("UNETC")
    os.environ["UNETC"] = _tools.compiler()
    try:
        yield
    finally:
        if before is None:
            del os.environ["UNETC"]
        else:
            os.environ["UNETC"] = before


@dataclasses.dataclass(frozen=True)
class Network:
    """A converted module: the text of its .unet file, without `train` and `data`; its weights as a safetensors file; and notes
    on what a trained file has to know."""

    name: str
    text: str
    weights: bytes = dataclasses.field(repr=False)
    notes: Tuple[str, ...] = ()

    def save(self, folder: "os.PathLike[str] | str") -> str:
        """Writes NAME.unet and NAME.safetensors to FOLDER; returns the path of the first."""
        path = os.path.join(os.fspath(folder), self.name + ".unet")
        _tools.write_whole(os.path.splitext(path)[0] + ".safetensors", self.weights)
        _tools.write_whole(path, self.text.encode())
        return path

    def load_into(self, model: Any) -> None:
        """A Model of this text takes the weights."""
        with tempfile.TemporaryDirectory(prefix="unetc-") as folder:
            path = os.path.join(folder, "weights.safetensors")
            _tools.write_whole(path, self.weights)
            model.load(path)


def from_torch(module: Any, size: Any, *, check: bool = False) -> Network:
    """MODULE, a torch.nn.Module, in words of the language, for inputs of SIZE: (channels, height, width), (channels, depth, height,
    width), (channels, length), or a list of such.  CHECK: both compute random numbers, and ConversionError says where they differ.
    Needs PyTorch 1.13 or newer.  Raises ConversionError for what the language cannot say."""
    if size is None:
        raise UsageError("the size of the input is missing: from_torch(module, (channels, height, width))")
    with _with_compiler():
        converter = _converter()
        try:
            translation, text = converter.translated(module, size)
            tensors = converter.weights.file_tensors(translation)
            if check:
                converter.compared(module, size, translation, text, tensors)
        except (converter.Inexpressible, converter.NotEqual) as error:
            raise ConversionError(str(error)) from None
        name = converter.naming.snake(type(module).__name__)
        notes = converter.folded_notes(translation) + converter.outputs.notes(translation, converter.writing.output_names(translation))
        return Network(name, text, converter.weights.safetensors(tensors), tuple(notes))


def torch_loss(function: Callable[[Any], Any]) -> Callable[[Any], Tuple[float, Any]]:
    """FUNCTION, of a tensor of outputs to a loss, as Model.train_by takes it: PyTorch differentiates it by the outputs."""
    def by_output(output: Any) -> Tuple[float, Any]:
        torch = importlib.import_module("torch")
        leaf = torch.from_dlpack(output).clone().requires_grad_()
        value = function(leaf)
        value.backward()
        return float(value.detach()), leaf.grad
    return by_output


def load_into(module: Any, model: Any) -> List[str]:
    """The weights of MODEL into MODULE."""
    if model._source is None:
        raise UsageError("%s was opened as a library: compile the module, or its .unet file" % model.name)
    with _with_compiler(), tempfile.TemporaryDirectory(prefix="unetc-") as folder:
        converter = _converter()
        unet, weights = os.path.join(folder, model.name + ".unet"), os.path.join(folder, "weights.safetensors")
        with open(unet, "w", encoding="utf-8") as file:
            file.write(model._source[0].text)
        model.save(weights)
        try:
            return list(converter.weights.load_trained(module, unet, weights))
        except converter.Inexpressible as error:
            raise ConversionError(str(error)) from None
