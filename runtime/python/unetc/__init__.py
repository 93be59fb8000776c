"""unetc: U-Nets that train in planned memory.

    plan = unetc.mem("tiny_unet.unet", batch=6)                 every byte of training, before anything runs
    with unetc.compile("tiny_unet.unet", batch=6) as model:     a model in one buffer of that size
        loss = model.train_step(noisy, clean, lr=1e-3)          NumPy arrays, PyTorch tensors, buffers
        denoised = model.forward(noisy)

check, mem and fit ask the compiler; compile makes a Model; from_torch turns a torch.nn.Module into a .unet file.  All that can go
wrong is an Error.  Neither NumPy nor PyTorch is needed to import this package; results are NumPy arrays where NumPy is installed,
and else unetc.Array.
"""

from ._arrays import Array
from ._compile import compile
from ._errors import (ArgumentError, ClosedError, Diagnostic, DoesNotFit, Error, FileError, ModelError, Span, ToolError, UsageError)
from ._model import Evaluation, Model, TensorInfo, buffer
from ._plan import Arena, Buffer, Checked, Cost, Fit, FitPlan, FitRow, Loop, Plan, Step, Tensor, check, fit, mem
from ._tools import cache_folder, compiler
from ._torch import ConversionError, Network, from_torch, torch_loss

__version__ = "0.1.0"
__all__ = ["Arena", "ArgumentError", "Array", "Buffer", "Checked", "ClosedError", "ConversionError", "Cost", "Diagnostic", "DoesNotFit",
           "Error", "Evaluation", "FileError", "Fit", "FitPlan", "FitRow", "Loop", "Model", "ModelError", "Network", "Plan", "Span", "Step",
           "Tensor", "TensorInfo", "ToolError", "UsageError", "buffer", "cache_folder", "check", "compile", "compiler", "fit", "from_torch",
           "mem", "torch_loss"]
