"""rearranging.py - random patterns of `rearrange`, for the tests of its kernels."""


def rearranged(r, most, flat=True):
    """(shape of x, shape of y, numbers): channels, depth, height and width of both, and five numbers for each part of the axes, as
    kernels have them (templates/README.md).  R: a random.Random; MOST: elements of x; FLAT: the depth is 1."""
    while True:
        parts = [(axis, r.choice([1, 2, 2, 3, 4, 5, 7])) for axis in range(4) for _ in range(r.choice([0, 1, 1, 2])) if axis != 1 or not flat]
        order = r.sample(range(len(parts)), len(parts))
        homes = sorted(r.choice([0, 2, 3] if flat else [0, 1, 2, 3]) for _ in parts)
        x, y, x_step, y_step = [1] * 4, [1] * 4, {}, {}
        for i in reversed(range(len(parts))):
            axis, extent = parts[i]
            x_step[i], x[axis] = x[axis], x[axis] * extent
        for i, home in zip(reversed(order), reversed(homes)):
            y_step[i], y[home] = y[home], y[home] * parts[i][1]
        if parts and x[0] * x[1] * x[2] * x[3] <= most:
            home = dict(zip(order, homes))
            return x, y, [number for i, (axis, extent) in enumerate(parts) for number in (home[i], y_step[i], extent, axis, x_step[i])]
