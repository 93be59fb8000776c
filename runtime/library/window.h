/* window.h - which part of a file a sample shows: the transforms `crop` and `flip`; private to the runtime.
 */
#ifndef UNET_WINDOW_H
#define UNET_WINDOW_H

#include "unet/model.h"
#include "unet/rng.h"

/* Axes here: 0 height, 1 width, 2 depth; a picture has one slice. */
enum { WINDOW_AXES = 3 };

typedef struct {
    int32_t file[WINDOW_AXES];  /* size of the files */
    int32_t size[WINDOW_AXES];  /* of the window */
    int64_t start[WINDOW_AXES]; /* of the window in the file; negative: padding lies before the file */
    bool flip[WINDOW_AXES];
    UnetPad pad;
    float fill; /* of constant padding */
} FileWindow;

/* The crop among the transforms, or NULL. */
const UnetTransform *window_crop(const UnetTransform *transform, int32_t count);

/* A window of the files, at their corner. */
FileWindow window_whole(const UnetTransform *transform, int32_t count, const int32_t file[WINDOW_AXES],
                        const int32_t size[WINDOW_AXES]);

/* Draw from KEY, for a crop: the start of a window of SIZE along an axis of FILE; for a flip: whether it
 * mirrors the axis. */
int64_t window_start(const UnetTransform *crop, int32_t file, int32_t size, const UnetKey *key, int axis);
bool window_flips(const UnetTransform *flip, const UnetKey *key, int axis);

/* Moves a window so that VOXEL lies in its middle, but not in front of the first voxel; where nothing pads,
 * not behind the last either. */
void window_centre_on(FileWindow *window, const int32_t voxel[WINDOW_AXES]);

/* Training: what KEY (whose stream is replaced) draws; without `crop` the sizes are equal. */
FileWindow window_draw(const UnetTransform *transform, int32_t count, const int32_t file[WINDOW_AXES],
                       const int32_t size[WINDOW_AXES], const UnetKey *key);

/* Evaluation: the centre of a larger file; a smaller one lies at the origin. */
FileWindow window_centre(const UnetTransform *transform, int32_t count, const int32_t file[WINDOW_AXES],
                         const int32_t size[WINDOW_AXES]);

/* MAP[i]: the row (axis 0) or column (axis 1) that the window shows at i of a file with MULTIPLE of them
 * for one of WINDOW->file; -1 for the fill.  MAP has MULTIPLE * WINDOW->size[axis] entries. */
void window_map(const FileWindow *window, int axis, int32_t multiple, int32_t *map);

/* The rows or columns of such a file that the window needs: [*begin, *end). */
void window_range(const FileWindow *window, int axis, int32_t multiple, int32_t *begin, int32_t *end);

#endif
