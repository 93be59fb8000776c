/* window.c - which part of a file a sample shows: the transforms `crop` and `flip`.
 *
 *     file     |--------------------|            |------|
 *     window       |-------|                  |------------|
 *              start > 0                      start < 0, padded on both sides
 */
#include "window.h"
#include "unet/layout.h"

#include <string.h>

const UnetTransform *window_crop(const UnetTransform *transform, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (transform[i].op == UNET_DO_CROP) {
            return &transform[i];
        }
    }
    return NULL;
}

FileWindow window_whole(const UnetTransform *transform, int32_t count, const int32_t file[WINDOW_AXES],
                        const int32_t size[WINDOW_AXES]) {
    const UnetTransform *crop = window_crop(transform, count);
    FileWindow window = {.pad = UNET_PAD_NONE};
    memcpy(window.file, file, sizeof window.file);
    memcpy(window.size, size, sizeof window.size);
    if (crop != NULL) {
        window.pad = crop->pad;
        window.fill = crop->pad == UNET_PAD_VALUE ? (float)crop->pad_value : 0.0f;
    }
    return window;
}

/* Anywhere in a larger file; a smaller one anywhere in the window. */
static int64_t draw_start(int32_t file, int32_t size, const UnetKey *key, uint64_t index) {
    int64_t room = (int64_t)file - size;
    int64_t lowest = room < 0 ? room : 0;
    return lowest + unet_random_below(key, index, (room < 0 ? -room : room) + 1);
}

int64_t window_start(const UnetTransform *crop, int32_t file, int32_t size, const UnetKey *key, int axis) {
    return crop->random ? draw_start(file, size, key, (uint64_t)axis) : ((int64_t)file - size) / 2;
}

bool window_flips(const UnetTransform *flip, const UnetKey *key, int axis) {
    const int bit = axis == 2 ? 0 : axis + 1; /* depth, height, width */
    return (flip->axes >> bit & 1) != 0 && unet_random_uniform(key, (uint64_t)axis) < flip->p;
}

FileWindow window_draw(const UnetTransform *transform, int32_t count, const int32_t file[WINDOW_AXES],
                       const int32_t size[WINDOW_AXES], const UnetKey *key) {
    FileWindow window = window_whole(transform, count, file, size);
    for (int32_t i = 0; i < count; i++) {
        UnetKey own = *key;
        own.stream = UNET_STREAM_TRANSFORM + (uint32_t)i;
        for (int axis = 0; axis < WINDOW_AXES; axis++) {
            if (transform[i].op == UNET_DO_CROP) {
                window.start[axis] = window_start(&transform[i], file[axis], size[axis], &own, axis);
            } else if (transform[i].op == UNET_DO_FLIP) {
                window.flip[axis] ^= window_flips(&transform[i], &own, axis);
            }
        }
    }
    return window;
}

FileWindow window_centre(const UnetTransform *transform, int32_t count, const int32_t file[WINDOW_AXES],
                         const int32_t size[WINDOW_AXES]) {
    FileWindow window = window_whole(transform, count, file, size);
    if (window.pad == UNET_PAD_NONE) {
        window.pad = UNET_PAD_REFLECT;
    }
    for (int axis = 0; axis < WINDOW_AXES; axis++) {
        window.start[axis] = file[axis] > size[axis] ? (file[axis] - size[axis]) / 2 : 0;
    }
    return window;
}

void window_centre_on(FileWindow *window, const int32_t voxel[WINDOW_AXES]) {
    for (int axis = 0; axis < WINDOW_AXES; axis++) {
        const int32_t room = window->file[axis] - window->size[axis];
        int64_t start = (int64_t)voxel[axis] - window->size[axis] / 2;
        if (room < 0) { /* all of the file is in the window, wherever that was drawn */
            continue;
        }
        start = window->pad == UNET_PAD_NONE && start > room ? room : start;
        window->start[axis] = start < 0 ? 0 : start;
    }
}

/* Whether reflection shows a file of SIZE points backwards at POSITION. */
static bool is_mirrored(UnetPad pad, int64_t position, int32_t size) {
    return pad == UNET_PAD_REFLECT && (position < 0 || position >= size) &&
           unet_pad_index(pad, position + 1, size) < unet_pad_index(pad, position, size);
}

/* If a coarse point is reflected, its fine points are too, in reverse order. */
void window_map(const FileWindow *window, int axis, int32_t multiple, int32_t *map) {
    int32_t size = window->size[axis] * multiple;
    for (int32_t i = 0; i < size; i++) {
        int32_t shown = window->flip[axis] ? size - 1 - i : i;
        int64_t coarse = window->start[axis] + shown / multiple;
        int32_t index = unet_pad_index(window->pad, coarse, window->file[axis]), fine = shown % multiple;
        bool mirrored = is_mirrored(window->pad, coarse, window->file[axis]);
        map[i] = index < 0 ? -1 : index * multiple + (mirrored ? multiple - 1 - fine : fine);
    }
}

void window_range(const FileWindow *window, int axis, int32_t multiple, int32_t *begin, int32_t *end) {
    int64_t start = window->start[axis];
    int64_t stop = start + window->size[axis];
    *begin = (int32_t)(start > 0 ? start : 0) * multiple;
    *end = (stop < window->file[axis] ? (int32_t)stop : window->file[axis]) * multiple;
}
