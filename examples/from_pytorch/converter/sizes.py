"""Rules that make other sizes: pooling, means and sums along axes, resizing, zeros and cut rows around an image.

Variances, norms and softmax over axes for which the language has no word are spelt out by means, sums and maxima.
"""

import fractions

from . import arranging, attention, windows
from .axes import channel_part, copied, settled, whole_axis
from .points import Norm, arithmetic, combined, key_of, of_two, scaled, shifted
from .table import after, given, listed, number, operator, plainly
from .values import Atom, Indices, Products, Value, every_point, joined, letters, product



def pool_arguments(n, kernel, stride):
    return ([(None, kernel)] if kernel != 2 or stride != 2 else []) + given("stride", stride, kernel)


def pool_windows(n):
    spatial = len(n.tensor("self").points)
    kernel = number(listed(n["kernel_size"], spatial))
    return kernel, number(listed(n["stride"], spatial)) if n["stride"] else kernel, number(listed(n["padding"], spatial))


@operator("max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices",
          "self kernel_size stride padding dilation ceil_mode")
def max_pool(n):
    source = n.plain("self")
    kernel, stride, padding = pool_windows(n)
    spatial = len(n.tensor("self").points)
    name = n.emit("max_pool", [source], pool_arguments(n, kernel, stride) + given("padding", padding, 0)
                  + given("dilation", number(listed(n["dilation"], spatial)), 1) + given("ceil", n["ceil_mode"], False), after(n))
    points = n.translation.size[source][1:]
    divided = all((p - k) % s == 0 for p, k, s in zip(points, *(listed(size, len(points)) for size in (kernel, stride))))
    exact = padding == 0 and (divided or not n["ceil_mode"]) and number(listed(n["dilation"], spatial)) == 1
    return [plainly(n, name), Indices(source if exact else None, kernel, stride)]


@operator("max_unpool2d max_unpool3d", "self indices output_size", "stride padding")
def max_unpool(n):
    indices = n.value("indices")
    if not isinstance(indices, Indices) or indices.like is None or list(after(n)[1:]) != list(
            n.translation.size[indices.like][1:]):
        n.refuse("max_unpool by other indices than those of a max_pool without padding, back to its size")
    return plainly(n, n.emit("max_unpool", [n.plain("self"), indices.like], pool_arguments(n, indices.kernel, indices.stride),
                             after(n)))


@operator("avg_pool1d", "self kernel_size stride padding ceil_mode count_include_pad")
@operator("avg_pool2d avg_pool3d", "self kernel_size stride padding ceil_mode count_include_pad divisor_override")
def avg_pool(n):
    value = n.tensor("self")
    spatial = len(value.points)
    kernel, stride, padding = pool_windows(n)
    sides, steps, zeros = (listed(v, spatial) for v in (kernel, stride, padding))
    source, waiting = value.base, value.pads
    even = waiting and all(front == back >= 0 for front, back in waiting)
    if even and padding == 0 and all(2 * front <= k for (front, _), k in zip(waiting, sides)):
        zeros = [front for front, _ in waiting]
        padding = number(zeros)
    else:
        source = n.plain("self")
    points = n.translation.size[source][1:]
    floor = [(p + 2 * z - k) // s + 1 for p, z, k, s in zip(points, zeros, sides, steps)]
    if floor != after(n)[1:]:
        n.refuse("an average pool that rounds up (ceil_mode) at this size; choose one that its windows divide")
    divisor = n["divisor_override"] if n.has("divisor_override") else None
    counted = n["count_include_pad"] or bool(waiting)
    if divisor is not None and padding != 0 and not counted:
        n.refuse("an average pool with a divisor of its own")
    name = n.emit("avg_pool", [source], pool_arguments(n, kernel, stride) + given("padding", padding, 0)
                  + given("count_include_pad", counted or padding == 0, True), after(n))
    if divisor is not None:
        name = scaled(n, name, product(sides) / divisor)
    return plainly(n, name)


def equal_parts(n, points, size):
    if any(p % s for p, s in zip(points, size)):
        n.refuse("adaptive pooling to %s of %s points, which are no equal parts" % (
            "x".join(map(str, size)), "x".join(map(str, points))))


@operator("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", "self output_size")
def adaptive_avg_pool(n):
    source = n.plain("self")
    channels, *points = n.translation.size[source]
    size = after(n)[1:]
    for axis, (p, s) in enumerate(zip(points, size)):
        if s > p and s % p:
            source, points = overlapping_means(n, source, axis, s), points[:axis] + [s] + points[axis + 1:]
    means = [min(p, s) for p, s in zip(points, size)]
    name = pooled(n, source, (channels, *means))
    if means != size:
        name = n.emit("resize", [name], [("scale", number([s // m for s, m in zip(size, means)]))], after(n))
    return plainly(n, name)


def overlapping_means(n, source, axis, count):
    """Means of COUNT parts of an axis of fewer points: part i reaches from floor(i p / count) to ceil((i + 1) p / count)."""
    channels, *points = n.translation.size[source]
    word = "dhw"[-len(points):][axis]
    one = (channels, *points[:axis], 1, *points[axis + 1:])
    parts = []
    for i in range(count):
        begin, end = i * points[axis] // count, -(-(i + 1) * points[axis] // count)
        front = [begin if at == axis else 0 for at in range(len(points))]
        size = (*points[:axis], end - begin, *points[axis + 1:])
        part = n.emit("crop", [source], [(None, number(front)), (None, number(list(size)))], (channels, *size))
        parts.append(pooled(n, part, one))
    return n.emit("concat", parts, [("axis", word)], (channels, *points[:axis], count, *points[axis + 1:]))


@operator("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", "self output_size")
def adaptive_max_pool(n):
    source = n.plain("self")
    points, size = n.translation.size[source][1:], after(n)[1:]
    equal_parts(n, points, size)
    kernel = number([p // s for p, s in zip(points, size)])
    return [plainly(n, n.emit("max_pool", [source], pool_arguments(n, kernel, kernel), after(n))), Indices(None, kernel, kernel)]


def reduced(n, value, dims, keepdim, over_points, over_channels, over_parts):
    """The result of a reduction along axes DIMS: of some spatial letters, of all channels, or of a part of them."""
    rank = len(value.axes)
    dims = sorted({dim % rank for dim in dims})
    if value.pads or value.stack and [a.key() for dim in dims for a in value.axes[dim]] != [value.stack[0].key()]:
        value = settled(n, value)
    value = copied(n, value)
    atoms = [atom for dim in dims for atom in value.axes[dim]]
    axes = [() if i in dims else axis for i, axis in enumerate(value.axes)]
    if any(atom.letter == "*" for atom in atoms):
        n.refuse("a reduction over an axis that only repeats")
    channel = [atom for atom in atoms if atom.letter == "C"]
    turned = lambda why: reduced(n, arranging.with_reduced(n, value, dims) or n.refuse(why), dims, keepdim, over_points, over_channels, over_parts)
    names = {letter: size for letter, size in zip(letters(len(value.points)), value.size)}
    if any(atom.size != names[atom.letter] for atom in atoms if atom.letter != "C"):
        return turned("a reduction over a part of the rows or columns")
    base, size = value.base, list(value.size)
    if channel and product(atom.size for atom in channel) != value.channels:
        if len(channel) != 1 or channel[0].inner * channel[0].size != value.channels:
            return turned("a reduction over a part of the channels that is no outer group of them")
        base = over_parts(value, channel[0].size)
        size[0] = channel[0].inner
    elif channel:
        base, size[0] = over_channels(base, value.channels), 1
    points = [letter for letter in names if letter != "C" and letter in {atom.letter for atom in atoms}]
    if points:
        after_points = [1 if letter in points else names[letter] for letter in names if letter != "C"]
        base = over_points(base, (size[0], *after_points), product(names[letter] for letter in points))
        size = [size[0], *after_points]
    result = Value(base, size, axes)
    return result if keepdim else result.reshaped([s for i, s in enumerate(result.shape()) if i not in dims])


def parts_of(n, value, count):
    return [v.base for v in value.stack[1]] if value.stack else n.translation.chunked(n.node, value.base, count)


def together(n, function, names):
    """All of these tensors by a function, or a sign, of two."""
    result = names[0]
    for name in names[1:]:
        result = n.emit(function, [result, name])
    return result


def sum_of_parts(n, value, count):
    return together(n, "+", parts_of(n, value, count))


def pooled(n, base, size):
    points = n.translation.size[base][1:]
    return n.emit("adaptive_avg_pool", [base], [(None, number(list(size[1:])))], size) if list(points) != list(size[1:]) else base


def dims_of(n, name="dim"):
    raw = n[name] if n.has(name) else None
    if raw is None or raw == []:
        return list(range(len(n.tensor("self").axes)))
    return raw if isinstance(raw, (list, tuple)) else [raw]


def whole_number_type(n):
    if n.has("dtype") and n.raw("dtype") is not None and not n.raw("dtype").is_floating_point:
        n.refuse("it makes whole numbers")


def mean_of(n, value, dims, keepdim=True):
    return reduced(n, value, dims, keepdim,
                   lambda base, size, _: pooled(n, base, size),
                   lambda base, _: n.emit("channel_mean", [base], size=(1, *n.translation.size[base][1:])),
                   lambda parts, count: arithmetic(n, "/", sum_of_parts(n, parts, count), count))


def sum_of(n, value, dims, keepdim=True):
    return reduced(n, value, dims, keepdim,
                   lambda base, size, count: scaled(n, pooled(n, base, size), count),
                   lambda base, count: scaled(n, n.emit("channel_mean", [base], size=(1, *n.translation.size[base][1:])), count),
                   lambda parts, count: sum_of_parts(n, parts, count))


def keeps(n):
    return n.has("keepdim") and n["keepdim"]


@operator("mean mean.dim", "self dim keepdim dtype")
def mean(n):
    whole_number_type(n)
    return mean_of(n, n.tensor("self"), dims_of(n), keeps(n))


@operator("sum sum.dim_IntList", "self dim keepdim dtype")
def total(n):
    whole_number_type(n)
    return sum_of(n, n.tensor("self"), dims_of(n), keeps(n))


def maximum_of(n, value, dims, keepdim=True):
    def over_points(base, size, _):
        points = n.translation.size[base][1:]
        kernel = number([p // s for p, s in zip(points, size[1:])])
        return n.emit("max_pool", [base], pool_arguments(n, kernel, kernel), size)

    def over_parts(parts, count):
        return together(n, "maximum", parts_of(n, parts, count))
    return reduced(n, value, dims, keepdim, over_points,
                   lambda base, _: n.emit("channel_max", [base], size=(1, *n.translation.size[base][1:])), over_parts)


@operator("amax", "self dim keepdim")
def amax(n):
    return maximum_of(n, n.tensor("self"), dims_of(n), n["keepdim"])


@operator("max.dim", "self dim keepdim")
def max_along(n):
    return [maximum_of(n, n.tensor("self"), [n["dim"]], n["keepdim"]), Indices(None, 0, 0)]


def minimum_of(n, value, dims, keepdim):
    def negative(x):
        return n.emit("-", [x])
    return mapped(n, negative, settled(n, maximum_of(n, mapped(n, negative, settled(n, value)), dims, keepdim)))


@operator("amin", "self dim keepdim")
def amin(n):
    return minimum_of(n, n.tensor("self"), dims_of(n), n["keepdim"])


@operator("min.dim", "self dim keepdim")
def min_along(n):
    return [minimum_of(n, n.tensor("self"), [n["dim"]], n["keepdim"]), Indices(None, 0, 0)]


# ---- spelt out: variances, norms, softmax -------------------------------------------------------------------------


def mapped(n, function, value):
    """FUNCTION of a base, a name, in the axes of VALUE."""
    return value.with_base(function(value.base))


def squared(n, value):
    return mapped(n, lambda x: n.emit("square", [x]), value)


def deviations(n, value, dims):
    """A value less its mean, and its variance, along DIMS."""
    apart = of_two(n, "-", value, mean_of(n, value, dims))
    return apart, mean_of(n, squared(n, apart), dims)


@operator("var.dim var.correction std.dim std.correction var_mean.dim var_mean.correction std_mean.dim std_mean.correction",
          "self dim unbiased correction keepdim")
def variance(n):
    value = n.made("self")
    dims, rank = dims_of(n), len(value.axes)
    count = product(value.shape()[dim] for dim in dims)
    given_correction = n["correction"] if n.has("correction") else int(n["unbiased"])
    left = count - (1 if given_correction is None else given_correction)
    if left <= 0:
        n.refuse("a variance of %d numbers with a correction as large" % count)
    spread = mapped(n, lambda x: scaled(n, x, count / left), deviations(n, value, dims)[1])
    if n.name.startswith("std"):
        spread = mapped(n, lambda x: n.emit("sqrt", [x]), spread)
    made = [spread, mean_of(n, value, dims)] if "mean" in n.name else [spread]
    made = made if n["keepdim"] else [without_axes(part, {dim % rank for dim in dims}) for part in made]
    return made if "mean" in n.name else made[0]


def without_axes(value, dims):
    """A value without these axes, which have one element each."""
    return value.reshaped([size for i, size in enumerate(value.shape()) if i not in dims])


@operator("linalg_vector_norm norm.ScalarOpt_dim", "self ord p dim keepdim dtype")
def vector_norm(n):
    order = n["ord" if n.has("ord") else "p"]
    if n.has("dtype") and n["dtype"] is not None or order not in (None, 1, 2):
        n.refuse("a norm other than the first or the second")
    value = n.made("self")
    powers = squared(n, value) if order != 1 else mapped(n, lambda x: n.emit("abs", [x]), value)
    result = sum_of(n, powers, dims_of(n), n["keepdim"])
    if order == 1:
        return result
    result = mapped(n, lambda x: n.emit("sqrt", [x]), result)
    axis = dims_of(n)[0] % len(value.axes)
    groups = groups_of_channels(value, axis) if len(dims_of(n)) == 1 and n["keepdim"] else None
    if groups:
        n.translation.norms[result.base] = Norm(key_of(value), axis, list(result.key()), groups, None)
    return result


def groups_of_channels(value, axis):
    """How many groups of channels there are, if this axis has those of one; else None."""
    atoms = value.axes[axis]
    inner = len(atoms) == 1 and atoms[0].letter == "C" and atoms[0].inner == 1
    return value.channels // atoms[0].size if inner and value.channels % atoms[0].size == 0 else None


def normalised(n, value, dims, eps):
    """A value less its mean, divided by its standard deviation, both along DIMS."""
    apart, spread = deviations(n, value, dims)
    return of_two(n, "/", apart, mapped(n, lambda x: n.emit("sqrt", [shifted(n, x, eps)]), spread))


def group_softmax(n, value, axis):
    """Softmax over an outer group of the channels."""
    parts = parts_of(n, value, value.axes[axis][0].size)
    most = together(n, "maximum", parts)
    powers = [n.emit("exp", [arithmetic(n, "-", part, most)]) for part in parts]
    whole = together(n, "+", powers)
    return value.with_base(n.emit("concat", [arithmetic(n, "/", power, whole) for power in powers], size=value.size))


def less_maximum(n, value, dim):
    return of_two(n, "-", value, maximum_of(n, value, [dim]))


@operator("softmax.int", "self dim dtype")
def softmax(n):
    if isinstance(n.value("self"), Products):
        return attention.softmax_of(n, n.value("self"), n["dim"])
    if n["dtype"] is not None:
        n.refuse("a softmax in another precision")
    value, axis = n.made("self"), n["dim"] % len(n.shape())
    groups, atoms = groups_of_channels(value, axis), value.axes[axis]
    if groups:
        return value.with_base(n.emit("softmax", [value.base], given("groups", groups, 1)))
    if atoms and [a.key() for a in atoms] == [a.key() for a in joined(every_point(value))]:
        return value.with_base(n.emit("softmax", [value.base], [("over", "points")]))
    if len(atoms) == 1 and atoms[0].letter == "C" and atoms[0].inner * atoms[0].size == value.channels:
        return group_softmax(n, value, axis)
    powers = mapped(n, lambda x: n.emit("exp", [x]), less_maximum(n, value, axis))
    return of_two(n, "/", powers, sum_of(n, powers, [axis]))


@operator("log_softmax.int", "self dim dtype")
def log_softmax(n):
    if n["dtype"] is not None:
        n.refuse("a softmax in another precision")
    value = less_maximum(n, n.made("self"), n["dim"])
    whole = sum_of(n, mapped(n, lambda x: n.emit("exp", [x]), value), [n["dim"]])
    return of_two(n, "-", value, mapped(n, lambda x: n.emit("log", [x]), whole))


@operator("layer_norm", "input normalized_shape weight bias eps", "cudnn_enable")
def layer_norm(n):
    value, count = n.made("input"), len(n["normalized_shape"])
    if count == 1 and value.whole_channels(-1) and n["weight"] is not None and n["bias"] is not None:
        layer = n.layer({"weight": n.weight("weight"), "bias": n.weight("bias")})
        return value.with_base(n.emit("layer_norm", [value.base], given("eps", n["eps"], 1e-5), layer=layer))
    rank = len(value.axes)
    return with_weights(n, normalised(n, value, list(range(rank - count, rank)), n["eps"]))


@operator("rms_norm", "input normalized_shape weight eps")
def rms_norm(n):
    import torch
    value, count = n.made("input"), len(n["normalized_shape"])
    eps = torch.finfo(torch.float32).eps if n["eps"] is None else n["eps"]
    rank = len(value.axes)
    if count == 1 and value.whole_channels(-1) and n["weight"] is not None:
        layer = n.layer({"weight": n.weight("weight")})
        return value.with_base(n.emit("rms_norm", [value.base], given("eps", eps, torch.finfo(torch.float32).eps), layer=layer))
    size = mean_of(n, squared(n, value), list(range(rank - count, rank)))
    result = of_two(n, "/", value, mapped(n, lambda x: n.emit("sqrt", [shifted(n, x, eps)]), size))
    return result if n["weight"] is None else combined(n, "*", result, n.weight("weight"))


def with_weights(n, value):
    """Times the weight, plus the bias, where a normalisation has them."""
    for sign, name in (("*", "weight"), ("+", "bias")):
        if n[name] is not None:
            value = combined(n, sign, value, n.weight(name))
    return value


@operator("upsample_nearest1d.vec upsample_nearest2d.vec upsample_nearest3d.vec _upsample_nearest_exact1d.vec "
          "_upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec",
          "input output_size scale_factors")
@operator("upsample_linear1d.vec upsample_bilinear2d.vec upsample_trilinear3d.vec", "input output_size align_corners scale_factors")
def resize(n):
    source = n.plain("input")
    before, behind = n.translation.size[source][1:], after(n)[1:]
    word = n.name.partition(".")[0]
    mode = "nearest_exact" if "exact" in word else "nearest" if "nearest" in word else "linear" if "1d" in word else "bilinear"
    how = given("mode", mode, "nearest") + given("align_corners", n.has("align_corners") and n["align_corners"], False)
    if list(before) == list(behind) and n["scale_factors"] is None:
        return plainly(n, source)
    scale = resize_scale(n["scale_factors"], before, behind)
    if scale is None:
        n.refuse("a scale factor that is no fraction")
    if any(s.denominator != 1 and (1 / s).denominator != 1 for s in scale) and n["scale_factors"] is None:
        like = next((name for name in n.translation.order[::-1] if list(n.translation.size[name][1:]) == list(behind)), None)
        if like is not None:
            return plainly(n, n.emit("resize", [source, like], how, after(n)))
    return plainly(n, n.emit("resize", [source], [("scale", number(scale))] + how, after(n)))


def resize_scale(factors, before, behind):
    """What positions follow from: the factors, or without them the ratios of the sizes."""
    if factors is None:
        return [fractions.Fraction(b, a) for a, b in zip(before, behind)]
    scale = [fractions.Fraction(f).limit_denominator(1000) for f in listed(factors, len(before))]
    if any(float(s) != f or a * s // 1 != b for s, f, a, b in zip(scale, listed(factors, len(before)), before, behind)):
        return None
    return scale


@operator("pixel_shuffle", "self upscale_factor")
def pixel_shuffle(n):
    return plainly(n, n.emit("pixel_shuffle", [n.plain("self")], [(None, n["upscale_factor"])], after(n)))


@operator("pixel_unshuffle", "self downscale_factor")
def pixel_unshuffle(n):
    return plainly(n, n.emit("pixel_unshuffle", [n.plain("self")], [(None, n["downscale_factor"])], after(n)))


@operator("pad", "self pad mode value")
def pad(n):
    return surround(n, n["pad"], n["mode"], n["value"] or 0)


@operator("constant_pad_nd", "self pad value")
def constant_pad(n):
    return surround(n, n["pad"], "constant", n["value"] or 0)


@operator("reflection_pad1d reflection_pad2d reflection_pad3d", "self padding")
def reflection_pad(n):
    return surround(n, n["padding"], "reflect", 0)


@operator("replication_pad1d replication_pad2d replication_pad3d", "self padding")
def replication_pad(n):
    return surround(n, n["padding"], "replicate", 0)


def with_wider_groups(n, value, pads, filling):
    """A number behind the channels of each group, which are the last axis; None, if this is something else."""
    count = pads[1] if pads[0] == 0 and pads[1] > 0 and not any(pads[2:]) else 0
    groups = groups_of_channels(value, len(value.axes) - 1)
    if not count or not groups or groups == 1 or value.stack or value.pads:
        return None
    cut, found = value.axes[-1][0], arranging.factors(value)
    if found is None:
        return None
    channels, points = found.pop("C"), [tuple(atoms) for atoms in found.values()]
    place = [atom.key() for atom in channels].index(cut.key())
    beside = arranging.arranged(n, value, [(cut, *channels[:place], *channels[place + 1:]), *points])
    if beside is None:
        return None
    first = n.translation.chunked(n.node, beside.base, cut.size)[0]
    more = shifted(n, scaled(n, first, 0), filling)
    size = (groups * (cut.size + count), *value.points)
    wide = n.emit("concat", [beside.base] + [more] * count, size=size)
    result = Value(wide, size, [*beside.axes[:-1], (Atom("C", cut.size + count, groups),)])
    channels = arranging.factors(result)["C"]
    return arranging.arranged(n, result, [(*channels[1:place + 1], channels[0], *channels[place + 1:]), *points])


def surround(n, pads, mode, filling):
    value = n.tensor("self")
    if not any(pads):
        return value
    wider = with_wider_groups(n, value, pads, filling) if mode == "constant" else None
    if wider:
        return wider
    if mode in ("reflect", "circular") or filling != 0:
        return copies_around(n, value, pads, mode, filling)
    if mode == "constant" and not (value.stack or value.pads or value.is_plain()):
        moved = zeros_on_axes(n, value, pads)
        if moved is not None:
            return moved
    if value.stack or not value.is_plain() and not value.pads:
        value = plainly(n, n.translation.forced(n, value))
    spatial = len(value.points)
    pairs = [tuple(pads[i:i + 2]) for i in range(0, len(pads), 2)][::-1]
    if any(any(pair) for pair in pairs[:-spatial]):
        channels = pairs[-spatial - 1]
        if mode != "constant" or any(any(pair) for pair in pairs[:-spatial - 1]) or min(channels) < 0 or value.pads:
            n.refuse("it pads batch or channels in a way that is no concatenation of zeros")
        value = with_channels(n, value, *channels)
    pairs = [(0, 0)] * (spatial - len(pairs)) + pairs[-spatial:]
    if value.pads and any(min(pair) < 0 for pair in value.pads) or value.pads and mode == "replicate":
        value = plainly(n, n.translation.forced(n, value))
    held = value.pads or [(0, 0)] * spatial
    total = Value(value.base, value.size, None, [(a + c, b + d) for (a, b), (c, d) in zip(held, pairs)])
    if mode == "replicate":
        return plainly(n, n.translation.surrounded(n, total, None, "replicate"))
    return total


def zeros_on_axes(n, value, pads):
    """Zeros along axes that are axes of points of the base, wherever they stand; None if others get some, too."""
    amounts, size, axes = [[0, 0] for _ in value.points], list(value.size), list(value.axes)
    for i in range(0, len(pads), 2):
        axis = len(axes) - 1 - i // 2
        if not any(pads[i:i + 2]):
            continue
        at = whole_axis(value, axis)
        if at is None or min(pads[i:i + 2]) < 0:
            return None
        amounts[at] = list(pads[i:i + 2])
        size[1 + at] += sum(amounts[at])
        axes[axis] = (Atom(axes[axis][0].letter, size[1 + at]),)
    return Value(n.emit("pad", [value.base], [(None, amounts)], size), size, axes)


def copies_around(n, value, pads, mode, filling):
    """Points that are no zeros: x itself once more, or a number."""
    value = plainly(n, n.translation.forced(n, value))
    spatial = len(value.points)
    pairs = [tuple(pads[i:i + 2]) for i in range(0, len(pads), 2)][::-1]
    if any(any(pair) for pair in pairs[:-spatial]) or min(pads) < 0:
        n.refuse("it pads batch or channels, or cuts, in a way that is no row of zeros")
    pairs = [(0, 0)] * (spatial - len(pairs)) + pairs[-spatial:]
    how = {"reflect": "reflect", "circular": "wrap"}.get(mode, "value")
    more = [("value", filling)] if how == "value" else []
    return plainly(n, n.translation.around(n, Value(value.base, value.size, None, pairs), how, more))


def axis_of_points(n, value, axis):
    """Which of the spatial axes of the base this is; None where it has one point alone."""
    atoms, names = value.axes[axis], letters(len(value.points))[1:]
    if not atoms:
        return None
    if len(atoms) > 1 or atoms[0].letter not in names or atoms[0].size != value.points[names.index(atoms[0].letter)]:
        n.refuse("along an axis that is not depth, height or width")
    return names.index(atoms[0].letter)


@operator("roll", "self shifts dims")
def roll(n):
    value = n.made("self")
    shifts, axes = listed(n["shifts"], 1), listed(n["dims"], 1)
    if not axes:
        n.refuse("it rolls all elements as one row")
    shift = [0] * len(value.points)
    for by, axis in zip(shifts, axes):
        at = axis_of_points(n, value, axis)
        if at is not None:
            shift[at] += by
    return value.with_base(windows.rolled(n, value.base, shift))


@operator("flip", "self dims")
def flip(n):
    value = n.made("self")
    name = value.base
    for axis in n["dims"]:
        at = axis_of_points(n, value, axis)
        if at is not None:
            name = n.emit("flip", [name], [(None, "dhw"[-len(value.points):][at])], value.size)
    return value.with_base(name)


def with_channels(n, value, front, back):
    """Zeros as channels before and behind: the first channels, times zero."""
    def zeros(count):
        whole, rest = divmod(count, value.channels)
        parts = [value.base] * whole
        if rest:
            parts.append(channel_part(n, value, 1, 0, rest).base)
        return [scaled(n, part, 0) for part in parts]
    channels = value.channels + front + back
    name = n.emit("concat", zeros(front) + [value.base] + zeros(back), size=(channels, *value.points))
    return Value(name, (channels, *value.points))
