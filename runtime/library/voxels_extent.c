/* voxels_extent.c - the part of a volume that is not 0: the box around it, and the mask (unet/voxels.h).
 *
 * A hole is a set of voxels that are 0 and that no path along the axes through voxels of 0 leads out of. So
 * the outside is found from the faces of the volume: sweeps forth and back pass on that a voxel is outside,
 * until one changes nothing.
 */
#include "voxels_extent.h"

#include <stdlib.h>
#include <string.h>

static size_t row_bytes(int32_t width) {
    return ((size_t)width + 7) / 8;
}

size_t extent_mask_bytes(const int32_t size[3]) {
    return (size_t)size[0] * (size_t)size[1] * row_bytes(size[2]);
}

bool extent_start(Extent *extent, const int32_t size[3], bool masked) {
    *extent = (Extent){.size = {size[0], size[1], size[2]}};
    if (masked) {
        extent->mask = calloc(extent_mask_bytes(size), 1);
    }
    return !masked || extent->mask != NULL;
}

void extent_end(Extent *extent) {
    free(extent->mask);
    extent->mask = NULL;
}

static void widen(UnetFileFacts *facts, const int32_t at[3]) {
    for (int i = 0; i < 3; i++) {
        if (facts->end[i] == 0 || at[i] < facts->begin[i]) {
            facts->begin[i] = at[i];
        }
        if (at[i] >= facts->end[i]) {
            facts->end[i] = at[i] + 1;
        }
    }
}

static uint8_t *mask_row(uint8_t *mask, const int32_t size[3], int32_t z, int32_t y) {
    return mask + ((size_t)z * (size_t)size[1] + (size_t)y) * row_bytes(size[2]);
}

void extent_row(Extent *extent, int32_t z, int32_t y, const float *row) {
    const int32_t width = extent->size[2];
    UnetFileFacts *facts = &extent->facts;
    uint8_t *mask = extent->mask != NULL ? mask_row(extent->mask, extent->size, z, y) : NULL;
    int32_t first = width, last = -1;
    for (int32_t x = 0; x < width; x++) {
        const double number = (double)row[x];
        facts->sum += number;
        facts->squares += number * number;
        if (row[x] != 0) {
            first = x < first ? x : first;
            last = x;
            if (mask != NULL) {
                mask[x / 8] |= (uint8_t)(1U << x % 8);
            }
        }
    }
    if (last >= 0) {
        const int32_t ends[2][3] = {{z, y, first}, {z, y, last}};
        widen(facts, ends[0]);
        widen(facts, ends[1]);
    }
}

/* ---- holes ------------------------------------------------------------------------------------ */

typedef struct {
    const int32_t *size;
    const uint8_t *full; /* voxels that are not 0 */
    uint8_t *inside;     /* voxels that are not known to be outside */
} Sweep;

static bool bit(const uint8_t *row, int32_t x) {
    return (row[x / 8] >> x % 8 & 1) != 0;
}

/* Voxel (Z, Y, X), or one beside the volume, is outside. */
static bool is_outside(const Sweep *s, int32_t z, int32_t y, int32_t x) {
    const bool beside = z < 0 || y < 0 || x < 0 || z >= s->size[0] || y >= s->size[1] || x >= s->size[2];
    return beside || !bit(mask_row(s->inside, s->size, z, y), x);
}

static bool look_at(const Sweep *s, int32_t z, int32_t y, int32_t x) {
    uint8_t *inside = mask_row(s->inside, s->size, z, y);
    const size_t row = (size_t)(inside - s->inside);
    const bool opens =
        bit(inside, x) && !bit(s->full + row, x) &&
        (is_outside(s, z - 1, y, x) || is_outside(s, z + 1, y, x) || is_outside(s, z, y - 1, x) ||
         is_outside(s, z, y + 1, x) || is_outside(s, z, y, x - 1) || is_outside(s, z, y, x + 1));
    if (opens) {
        inside[x / 8] &= (uint8_t) ~(1U << x % 8);
    }
    return opens;
}

/* Whether anything changes.  Bytes in which all is settled are passed over. */
static bool sweep_row(const Sweep *s, int32_t z, int32_t y, bool back) {
    const int32_t width = s->size[2];
    const uint8_t *inside = mask_row(s->inside, s->size, z, y), *full = s->full + (inside - s->inside);
    bool changes = false;
    for (int32_t i = 0; i < width; i++) {
        const int32_t x = back ? width - 1 - i : i;
        if ((inside[x / 8] & (uint8_t)~full[x / 8]) != 0) {
            changes |= look_at(s, z, y, x);
        }
    }
    return changes;
}

static bool sweep(const Sweep *s, bool back) {
    const int32_t rows = s->size[0] * s->size[1];
    bool changes = false;
    for (int32_t i = 0; i < rows; i++) {
        const int32_t row = back ? rows - 1 - i : i;
        changes |= sweep_row(s, row / s->size[1], row % s->size[1], back);
    }
    return changes;
}

bool extent_finish(Extent *extent) {
    if (extent->mask == NULL) {
        return true;
    }
    const size_t bytes = extent_mask_bytes(extent->size);
    const Sweep s = {.size = extent->size, .full = extent->mask, .inside = malloc(bytes)};
    if (s.inside == NULL) {
        return false;
    }
    memset(s.inside, 0xff, bytes);
    while (sweep(&s, false) && sweep(&s, true)) {
    }
    for (int32_t i = 0; i < extent->size[0] * extent->size[1]; i++) {
        uint8_t *row = mask_row(s.inside, extent->size, i / extent->size[1], i % extent->size[1]);
        for (int32_t x = 0; x < extent->size[2]; x++) {
            extent->facts.masked += bit(row, x);
        }
        if (extent->size[2] % 8 != 0) { /* bits behind the row */
            row[extent->size[2] / 8] &= (uint8_t)((1U << extent->size[2] % 8) - 1);
        }
    }
    free(extent->mask);
    extent->mask = s.inside;
    return true;
}
