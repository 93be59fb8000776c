/* borders.cuh - the points beyond the ends of an axis, by its UnetBorder (unet/functions.h). */
#include "prologue.cuh"

/* BEGIN */
#include <unet/functions.h>

/* The number of a point of x, which has EXTENT points: AT counts from the first one and may lie beyond the
 * ends.  -1: no point of x is there. */
DEVICE int border_source(int border, int at, int extent) {
    if (border == UNET_BORDER_FLIP)
        return extent - 1 - at;
    if (border == UNET_BORDER_WRAP)
        return at < 0 ? at + extent : at >= extent ? at - extent : at;
    if (border == UNET_BORDER_REFLECT)
        return at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
    return at >= 0 && at < extent ? at : -1;
}

enum { BORDER_COPIES = 3 };

/* The place in y of copy k of point AT of x.  X has EXTENT points, y has POINTS, of them BEFORE in front of
 * x.  -1: y has no such copy. */
DEVICE int border_copy(int border, int k, int at, int extent, int before, int points) {
    int place = at;
    if (border == UNET_BORDER_FLIP)
        place = extent - 1 - at;
    if (border == UNET_BORDER_REFLECT && k > 0)
        place = k == 1 ? -at : 2 * (extent - 1) - at;
    if (border == UNET_BORDER_WRAP && k > 0)
        place = k == 1 ? at - extent : at + extent;
    if (k > 0 && (border == UNET_BORDER_FLIP || border == UNET_BORDER_NUMBER ||
                  (border == UNET_BORDER_REFLECT && place == at)))
        return -1;
    return place + before >= 0 && place + before < points ? place + before : -1;
}
/* END */
