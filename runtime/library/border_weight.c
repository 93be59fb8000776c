/* border_weight.c - weights of points near the borders between cells: see border_weight.h.
 *
 *     classes --union of neighbours--> cells --columns--> two nearest cells in the column --rows--> in the
 * image
 *
 * Of the two cells nearest to a point, each has a point in some column that is among the two nearest of
 * this column; so looking along columns first, and then along the row, misses none. */
#include "border_weight.h"
#include "size_math.h"
#include "unet/model.h"

#include <math.h>
#include <string.h>

enum { CELLS = 2, CLASSES = 256 };
static const double reach = 6; /* in sigma: exp(-18) */

/* A cell, by the number of its first point, and how far it is: in rows of a column, or squared. */
typedef struct {
    int32_t cell, far;
} Near;

typedef struct {
    Near near[CELLS]; /* the nearest and the second nearest, another one; cell -1: none */
} Nearest;

typedef struct {
    int32_t height, width;
    const uint8_t *classes;
    int32_t *cell;    /* of each point: an earlier point of its cell, in the end the first; -1: none */
    Nearest *nearest; /* of each point, in its column */
} Map;

bool border_weight_bytes(int32_t height, int32_t width, size_t *bytes) {
    size_t points;
    return checked_mul((size_t)height, (size_t)width, &points) &&
           checked_mul(points, sizeof(int32_t) + sizeof(Nearest), bytes);
}

/* ---- cells ---- */

static int32_t first_of(int32_t *cell, int32_t point) {
    while (cell[point] != point) {
        cell[point] = cell[cell[point]]; /* halves the way for the next one */
        point = cell[point];
    }
    return point;
}

static void join(int32_t *cell, int32_t a, int32_t b) {
    a = first_of(cell, a);
    b = first_of(cell, b);
    cell[a > b ? a : b] = a < b ? a : b;
}

static void find_cells(const Map *map) {
    const int32_t points = map->height * map->width;
    for (int32_t i = 0; i < points; i++) {
        const uint8_t own = map->classes[i];
        map->cell[i] = own > 0 && own != UNET_IGNORED ? i : -1;
        if (map->cell[i] < 0) {
            continue;
        }
        if (i % map->width > 0 && map->classes[i - 1] == own) {
            join(map->cell, i, i - 1);
        }
        if (i >= map->width && map->classes[i - map->width] == own) {
            join(map->cell, i, i - map->width);
        }
    }
    for (int32_t i = 0; i < points; i++) {
        map->cell[i] = map->cell[i] < 0 ? -1 : first_of(map->cell, i);
    }
}

/* ---- the nearest ---- */

static void insert(Nearest *to, Near found) {
    Near *first = &to->near[0], *second = &to->near[1];
    if (found.cell < 0) {
        return;
    }
    if (first->cell < 0 || found.far < first->far) {
        if (found.cell != first->cell) {
            *second = *first;
        }
        *first = found;
    } else if (found.cell != first->cell && (second->cell < 0 || found.far < second->far)) {
        *second = found;
    }
}

/* Hands on to POINT the nearest cells of the point before it in its column, which are one row further away.
 */
static void pass_on(const Map *map, int32_t before, int32_t point) {
    for (int k = 0; k < CELLS; k++) {
        Near found = map->nearest[before].near[k];
        found.far++;
        insert(&map->nearest[point], found);
    }
}

static void search_columns(const Map *map) {
    const int32_t points = map->height * map->width;
    for (int32_t i = 0; i < points; i++) {
        map->nearest[i] = (Nearest){{{map->cell[i], 0}, {-1, 0}}};
        if (i >= map->width) {
            pass_on(map, i - map->width, i);
        }
    }
    for (int32_t i = points - map->width - 1; i >= 0; i--) {
        pass_on(map, i + map->width, i);
    }
}

/* Returns the two cells nearest to point X of a row, looking at columns up to FAR away; distances are
 * squared. */
static Nearest search_row(const Map *map, int32_t row, int32_t x, int32_t far) {
    const int32_t begin = x > far ? x - far : 0, end = x + far < map->width ? x + far + 1 : map->width;
    Nearest found = {{{-1, 0}, {-1, 0}}};
    for (int32_t column = begin; column < end; column++) {
        const Nearest *there = &map->nearest[row * map->width + column];
        for (int k = 0; k < CELLS; k++) {
            const Near near = there->near[k];
            if (near.cell >= 0 && near.far <= far) {
                insert(&found, (Near){near.cell, near.far * near.far + (column - x) * (column - x)});
            }
        }
    }
    return found;
}

/* ---- weights ---- */

static void balance(const Map *map, double weight[CLASSES]) {
    int64_t count[CLASSES] = {0}, points = 0, there = 0;
    for (int32_t i = 0; i < map->height * map->width; i++) {
        count[map->classes[i]]++;
    }
    count[UNET_IGNORED] = 0;
    for (int k = 0; k < CLASSES; k++) {
        points += count[k];
        there += count[k] > 0;
    }
    for (int k = 0; k < CLASSES; k++) {
        weight[k] = count[k] > 0 ? (double)points / ((double)there * (double)count[k]) : 0;
    }
}

void border_weight(const BorderWeight *by, int32_t height, int32_t width, const uint8_t *classes,
                   void *scratch, float *weight) {
    const size_t points = (size_t)height * (size_t)width;
    Map map = {.height = height, .width = width, .classes = classes, .nearest = scratch};
    map.cell = (int32_t *)(map.nearest + points);
    const int32_t far = (int32_t)fmin(ceil(reach * by->sigma), INT16_MAX);
    double of_class[CLASSES];
    find_cells(&map);
    search_columns(&map);
    balance(&map, of_class);
    for (int32_t i = 0; i < height * width; i++) {
        double own = of_class[classes[i]];
        const Nearest found =
            classes[i] == 0 ? search_row(&map, i / width, i % width, far) : (Nearest){{{-1, 0}, {-1, 0}}};
        if (found.near[1].cell >= 0) {
            const double both = sqrt(found.near[0].far) + sqrt(found.near[1].far);
            own += by->w0 * exp(-both * both / (2 * by->sigma * by->sigma));
        }
        weight[i] = (float)own;
    }
}
