"""The parts of from_pytorch.py, in the order of the data.

capture.py    runs the network once and writes down its operators
values.py     tensors as the language has them, seen through PyTorch's axes
translate.py  turns operators into calls of the language
table.py      has a row for each operator; its rule stands in layers.py, points.py, sizes.py, axes.py or attention.py
windows.py    finds Swin's attention, covariance.py attention of channels
learnt.py     has weights that stand beside a tensor, rows.py tokens that stand beside those of a map
computed.py   says by operators what the network computes of weights
outputs.py    outputs whose axes are in another order
blocks.py     finds modules that repeat
naming.py     names, and the words of the language
writing.py    writes the file
weights.py    writes the weights, and brings trained ones back
check.py      compiles what was written and compares it with the network
"""


class Inexpressible(Exception):
    """One line: what cannot be said, where, and what to do."""
