/* windows.c - the points of a map in windows.  The map is rolled by -shift before windows are cut. */
#include "prologue.c"

/* BEGIN */
/* Windows have the same extents everywhere; a map by itself is one window.  The points of a bias belong to
 * the differences of two points of a window, or to all pairs of queries and keys, row by row.  PAIRS: the
 * number of keys then, else 0. */
typedef struct {
    int map[3], window[3], shift[3], bias[3], pairs;
} Windows;

/* Numbers go row by row through a box of these extents: along an axis number `i` lies here. */
UNUSED static int coordinate(const int *extent, int i, int axis) {
    for (int k = 2; k > axis; k--)
        i /= extent[k];
    return i % extent[axis];
}

/* Point i of a window, on the rolled map. */
UNUSED static int rolled(const Windows *w, int window, int i, int axis) {
    int count[3];
    for (int k = 0; k < 3; k++)
        count[k] = w->map[k] / w->window[k];
    return coordinate(count, window, axis) * w->window[axis] + coordinate(w->window, i, axis);
}

/* And its number on the map. */
UNUSED static int point_of_window(const Windows *w, int window, int i) {
    int point = 0;
    for (int k = 0; k < 3; k++)
        point = point * w->map[k] + (rolled(w, window, i, k) + w->shift[k]) % w->map[k];
    return point;
}

/* The ends of the map meet within some windows; points on different sides do not see each other. */
UNUSED static int sees(const Windows *w, int window, int a, int b) {
    for (int k = 0; k < 3; k++) {
        const int seam = w->map[k] - w->shift[k];
        if ((rolled(w, window, a, k) >= seam) != (rolled(w, window, b, k) >= seam))
            return 0;
    }
    return 1;
}

UNUSED static int bias_points(const Windows *w) {
    return w->bias[0] * w->bias[1] * w->bias[2];
}

/* The number of the point of a bias for a query and a key of a window. */
UNUSED static int bias_number(const Windows *w, int query, int key) {
    int number = 0;
    if (w->pairs > 0)
        return query * w->pairs + key;
    for (int k = 0; k < 3; k++) {
        const int extent = w->window[k];
        number = number * (2 * extent - 1) + coordinate(w->window, query, k) -
                 coordinate(w->window, key, k) + extent - 1;
    }
    return number;
}
/* END */
