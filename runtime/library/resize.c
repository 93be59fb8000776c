/* resize.c - pictures made smaller or larger, row by row; unet/resize.h has the contract.
 *
 * A row that arrives is resized along itself, and then added to each row of the result that sees it.  There
 * are few of these at a time: two or three where the picture gets smaller.  So no row of the picture is
 * kept. */
#include "unet/resize.h"
#include "size_math.h"

#include <math.h>
#include <string.h>

/* Weights of 8 bits are whole numbers of this part of 1, so that sums have 32 bits. */
enum { FRACTION_BITS = 22 };

/* The points of the picture that a point of the result sees along an axis. */
typedef struct {
    int32_t first, count;
    double centre; /* of the point of the result, in points of the picture */
} Seen;

struct UnetResize {
    UnetResizeShape shape;
    int32_t arrived; /* rows of the picture */
    int32_t next;    /* row of the result */
    int32_t open;    /* rows of the result that see one row of the picture, at most */
    size_t numbers;  /* of a row of the result */
    Seen *seen;      /* of each column of the result, */
    double *weight;  /*   and the weight of each point that it sees, one column after the other; */
    int32_t *part;   /*   of 8 bits in its place: as a whole number */
    double *whole;   /* of each open row: the sum of its triangle */
    void *line;      /* the row that arrived last, resized along itself */
    void *sum;       /* of each open row: int32_t of 8 bits, double of others */
};

/* ---- weights ---------------------------------------------------------------------------------- */

static double step_of(const UnetResizeShape *shape, int axis) {
    return (double)shape->from[axis] / (double)shape->to[axis];
}

/* Half the width of the triangle. */
static double reach_of(const UnetResizeShape *shape, int axis) {
    const double step = step_of(shape, axis);
    return step < 1 ? 1 : step;
}

static Seen seen_from(const UnetResizeShape *shape, int axis, int32_t at) {
    const double centre = ((double)at + 0.5) * step_of(shape, axis), reach = reach_of(shape, axis);
    const double low = centre - reach + 0.5, high = centre + reach + 0.5;
    const int32_t first = low < 0 ? 0 : (int32_t)low;
    const int32_t end = high > shape->from[axis] ? shape->from[axis] : (int32_t)high;
    return (Seen){.first = first, .count = end - first, .centre = centre};
}

/* The triangle at point AT of the picture. */
static double height_at(const UnetResizeShape *shape, int axis, const Seen *seen, int32_t at) {
    const double away = fabs(((double)at - seen->centre + 0.5) * (1 / reach_of(shape, axis)));
    return away < 1 ? 1 - away : 0;
}

static double whole_of(const UnetResizeShape *shape, int axis, const Seen *seen) {
    double whole = 0;
    for (int32_t i = 0; i < seen->count; i++)
        whole += height_at(shape, axis, seen, seen->first + i);
    return whole;
}

static int32_t fraction(double weight) {
    return (int32_t)(weight * (1 << FRACTION_BITS) + 0.5);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static int32_t nearest_of(const UnetResizeShape *shape, int axis, int32_t at) {
    return (int32_t)((2 * (int64_t)at + 1) * shape->from[axis] / (2 * (int64_t)shape->to[axis]));
}

/* Rows of the result that are open while one of them is made. */
static int32_t most_open(const UnetResizeShape *shape) {
    int32_t most = 1, end = 0;
    for (int32_t y = 0; y < shape->to[0] && !shape->nearest; y++) {
        const Seen own = seen_from(shape, 0, y);
        while (end < shape->to[0] && seen_from(shape, 0, end).first < own.first + own.count)
            end++;
        most = end - y > most ? end - y : most;
    }
    return most;
}

static size_t count_weights(const UnetResizeShape *shape) {
    size_t count = 0;
    for (int32_t x = 0; x < shape->to[1]; x++)
        count += (size_t)seen_from(shape, 1, x).count;
    return count;
}

static bool has_bytes(const UnetResizeShape *shape) {
    return shape->bits == 8;
}

/* Returns the bytes that numbers of a row take on their way. */
static size_t line_bytes(const UnetResizeShape *shape) {
    return shape->nearest ? (size_t)shape->bits / 8 : has_bytes(shape) ? 1 : sizeof(double);
}

static size_t sum_bytes(const UnetResizeShape *shape) {
    return has_bytes(shape) ? sizeof(int32_t) : sizeof(double);
}

enum { PARTS = 6, SELF = 0, SEEN, WEIGHT, WHOLE, LINE, SUM };

/* Finds where each part begins, and behind the last the bytes of all; false: they cannot be counted. */
static bool lay_out(const UnetResizeShape *shape, size_t begin[PARTS + 1]) {
    const size_t columns = (size_t)shape->to[1], open = shape->nearest ? 0 : (size_t)most_open(shape);
    size_t numbers, sums, bytes[PARTS] = {sizeof(UnetResize), columns * sizeof(Seen)};
    bool good = checked_mul(columns, (size_t)shape->channels, &numbers) &&
                checked_mul(numbers, open, &sums) &&
                checked_mul(numbers, line_bytes(shape), &bytes[LINE]) &&
                checked_mul(sums, sum_bytes(shape), &bytes[SUM]);
    bytes[WEIGHT] = (shape->nearest ? 0 : count_weights(shape)) * sizeof(double);
    bytes[WHOLE] = open * sizeof(double);
    begin[0] = 0;
    for (int i = 0; i < PARTS && good; i++)
        good = checked_add(bytes[i], 63, &bytes[i]) &&
               checked_add(begin[i], bytes[i] / 64 * 64, &begin[i + 1]);
    return good;
}

size_t unet_resize_bytes(const UnetResizeShape *shape) {
    size_t begin[PARTS + 1];
    return lay_out(shape, begin) ? begin[PARTS] : 0;
}

static void weigh_columns(UnetResize *resize) {
    const UnetResizeShape *shape = &resize->shape;
    size_t to = 0;
    for (int32_t x = 0; x < shape->to[1]; x++) {
        const Seen seen = resize->seen[x] = seen_from(shape, 1, x);
        const double whole = whole_of(shape, 1, &seen);
        for (int32_t i = 0; i < seen.count; i++, to++) {
            const double weight = height_at(shape, 1, &seen, seen.first + i) / whole;
            if (has_bytes(shape))
                resize->part[to] = fraction(weight);
            else
                resize->weight[to] = weight;
        }
    }
}

UnetResize *unet_resize_at(void *memory, const UnetResizeShape *shape) {
    size_t begin[PARTS + 1] = {0};
    UnetResize *resize = memory;
    (void)lay_out(shape, begin);
    char *base = memory;
    *resize = (UnetResize){.shape = *shape,
                           .open = most_open(shape),
                           .numbers = (size_t)shape->to[1] * (size_t)shape->channels,
                           .seen = (Seen *)(void *)(base + begin[SEEN]),
                           .weight = (double *)(void *)(base + begin[WEIGHT]),
                           .part = (int32_t *)(void *)(base + begin[WEIGHT]),
                           .whole = (double *)(void *)(base + begin[WHOLE]),
                           .line = base + begin[LINE],
                           .sum = base + begin[SUM]};
    if (!shape->nearest)
        weigh_columns(resize);
    return resize;
}

/* ---- along a row ------------------------------------------------------------------------------ */

static void pick(const UnetResize *resize, const uint8_t *row) {
    const UnetResizeShape *shape = &resize->shape;
    const size_t point = (size_t)shape->channels * (size_t)(shape->bits / 8);
    uint8_t *to = resize->line;
    for (int32_t x = 0; x < shape->to[1]; x++, to += point)
        memcpy(to, row + (size_t)nearest_of(shape, 1, x) * point, point);
}

static uint8_t byte_of(int32_t sum) {
    const int32_t value = sum >> FRACTION_BITS;
    return (uint8_t)(value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : value);
}

static void narrow_bytes(const UnetResize *resize, const uint8_t *row) {
    const int32_t channels = resize->shape.channels;
    const int32_t *part = resize->part;
    uint8_t *to = resize->line;
    for (int32_t x = 0; x < resize->shape.to[1]; x++) {
        const Seen seen = resize->seen[x];
        for (int32_t c = 0; c < channels; c++) {
            const uint8_t *at = row + (ptrdiff_t)seen.first * channels + c;
            int32_t sum = 1 << (FRACTION_BITS - 1);
            for (int32_t i = 0; i < seen.count; i++, at += channels)
                sum += *at * part[i];
            *to++ = byte_of(sum);
        }
        part += seen.count;
    }
}

/* Number K of a row of 16 bits or of floats. */
static double number_at(int32_t bits, const uint8_t *row, ptrdiff_t k) {
    float number;
    if (bits == 16)
        return row[2 * k] << 8 | row[2 * k + 1];
    memcpy(&number, row + (ptrdiff_t)sizeof number * k, sizeof number);
    return (double)number;
}

static double rounded(int32_t bits, double number) {
    if (bits == 32)
        return (double)(float)number;
    const double whole = floor(number + 0.5);
    return whole < 0 ? 0 : whole > UINT16_MAX ? UINT16_MAX : whole;
}

static void narrow_numbers(const UnetResize *resize, const uint8_t *row) {
    const int32_t channels = resize->shape.channels, bits = resize->shape.bits;
    const double *weight = resize->weight;
    double *to = resize->line;
    for (int32_t x = 0; x < resize->shape.to[1]; x++) {
        const Seen seen = resize->seen[x];
        for (int32_t c = 0; c < channels; c++) {
            double sum = 0;
            for (int32_t i = 0; i < seen.count; i++)
                sum += number_at(bits, row, ((ptrdiff_t)seen.first + i) * channels + c) * weight[i];
            *to++ = rounded(bits, sum);
        }
        weight += seen.count;
    }
}

/* ---- along the columns ------------------------------------------------------------------------ */

static void add_bytes(const UnetResize *resize, int32_t slot, double weight, bool begins) {
    int32_t *sum = (int32_t *)resize->sum + (size_t)slot * resize->numbers;
    const uint8_t *line = resize->line;
    const int32_t factor = fraction(weight);
    for (size_t i = 0; i < resize->numbers; i++)
        sum[i] = (begins ? 1 << (FRACTION_BITS - 1) : sum[i]) + line[i] * factor;
}

static void add_numbers(const UnetResize *resize, int32_t slot, double weight, bool begins) {
    double *sum = (double *)resize->sum + (size_t)slot * resize->numbers;
    const double *line = resize->line;
    for (size_t i = 0; i < resize->numbers; i++)
        sum[i] = (begins ? 0 : sum[i]) + line[i] * weight;
}

/* The row that arrived is number AT of the picture. */
static void add_row(UnetResize *resize, int32_t at) {
    const UnetResizeShape *shape = &resize->shape;
    for (int32_t y = resize->next; y < shape->to[0]; y++) {
        const Seen seen = seen_from(shape, 0, y);
        const int32_t slot = y % resize->open;
        if (seen.first > at)
            break;
        if (at >= seen.first + seen.count)
            continue;
        if (at == seen.first)
            resize->whole[slot] = whole_of(shape, 0, &seen);
        const double weight = height_at(shape, 0, &seen, at) / resize->whole[slot];
        (has_bytes(shape) ? add_bytes : add_numbers)(resize, slot, weight, at == seen.first);
    }
}

/* ---- the interface ---------------------------------------------------------------------------- */

bool unet_resize_wants(const UnetResize *resize) {
    const UnetResizeShape *shape = &resize->shape;
    if (resize->next >= shape->to[0])
        return false;
    if (shape->nearest)
        return resize->arrived <= nearest_of(shape, 0, resize->next);
    const Seen seen = seen_from(shape, 0, resize->next);
    return resize->arrived < seen.first + seen.count;
}

void unet_resize_push(UnetResize *resize, const void *row) {
    const UnetResizeShape *shape = &resize->shape;
    const int32_t at = resize->arrived++;
    if (resize->next >= shape->to[0])
        return;
    if (shape->nearest) {
        if (at == nearest_of(shape, 0, resize->next))
            pick(resize, row);
        return;
    }
    if (at < seen_from(shape, 0, resize->next).first)
        return;
    (has_bytes(shape) ? narrow_bytes : narrow_numbers)(resize, row);
    add_row(resize, at);
}

/* Numbers of 16 bits or floats, as they stand in rows. */
static void store_numbers(const UnetResize *resize, const double *sum, uint8_t *to) {
    for (size_t i = 0; i < resize->numbers; i++) {
        const double number = rounded(resize->shape.bits, sum[i]);
        if (resize->shape.bits == 16) {
            to[2 * i] = (uint8_t)((uint32_t)number >> 8);
            to[2 * i + 1] = (uint8_t)((uint32_t)number & UINT8_MAX);
        } else {
            const float value = (float)number;
            memcpy(to + i * sizeof value, &value, sizeof value);
        }
    }
}

void unet_resize_pull(UnetResize *resize, void *row) {
    const size_t begin = (size_t)(resize->next++ % resize->open) * resize->numbers;
    uint8_t *to = row;
    if (resize->shape.nearest) {
        memcpy(to, resize->line, resize->numbers * line_bytes(&resize->shape));
    } else if (has_bytes(&resize->shape)) {
        const int32_t *sum = (const int32_t *)resize->sum + begin;
        for (size_t i = 0; i < resize->numbers; i++)
            to[i] = byte_of(sum[i]);
    } else {
        store_numbers(resize, (const double *)resize->sum + begin, to);
    }
}

void unet_resize_skip(UnetResize *resize, int32_t count) {
    resize->next += count;
}

/* ---- sizes ------------------------------------------------------------------------------------ */

void unet_resized(const UnetImageWay *way, const int32_t size[2], int32_t resized[2]) {
    memcpy(resized, size, 2 * sizeof *size);
    if (way->fit == UNET_FIT_NONE)
        return;
    /* The box in proportion to the picture, compared without rounding: which axis is the tighter one? */
    const int64_t by_height = (int64_t)way->box[0] * size[1], by_width = (int64_t)way->box[1] * size[0];
    const bool height_decides = (by_height < by_width) == (way->fit == UNET_FIT_INSIDE);
    for (int axis = 0; axis < 2; axis++)
        resized[axis] = way->box[axis];
    if (way->fit != UNET_FIT_EXACT && by_height != by_width) {
        const int given = height_decides ? 0 : 1, other = 1 - given;
        const int64_t side =
            ((int64_t)way->box[given] * size[other] * 2 + size[given]) / (2 * (int64_t)size[given]);
        resized[other] = side < 1 ? 1 : side > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)side;
    }
    for (int axis = 0; axis < 2; axis++)
        resized[axis] = resized[axis] > INT32_MAX / way->times ? INT32_MAX : resized[axis] * way->times;
}
