"""precisions.py - what PyTorch does for a precision of ours."""
import contextlib

import torch

HALF = {"bf16": torch.bfloat16, "f16": torch.float16}


def choose(precision):
    """For all that is computed from here on: whether f32 may be multiplied as TF32."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "f32"


def cast(precision, device, **options):
    """Where a net is applied: 16 bits between operators."""
    return torch.autocast(device, dtype=HALF[precision], **options) if precision in HALF else contextlib.nullcontext()


def scaler(precision):
    """Of the loss, in f16; else it does nothing."""
    kind = torch.amp.GradScaler if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler
    return kind(init_scale=65536.0, enabled=precision == "f16")
