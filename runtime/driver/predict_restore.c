/* predict_restore.c - rows of an output, brought back to the size of a picture that was resized.
 *
 *     picture --resize--> network --rows of an output--> restore_put --rows as large as the picture-->
 * taker
 *
 * Numbers are weighed as in unet/resize.h; classes take the nearest point.
 */
#include "predict.h"

#include <stdlib.h>
#include <string.h>

#include "unet/resize.h"

struct Restore {
    RowTaker *taker;
    int32_t channels, from, to; /* of rows: width */
    int32_t left;               /* rows of the result that were not taken yet */
    float *row;                 /* of the result */
    UnetResize *channel[];      /* each with memory of its own */
};

UnetStatus restore_open(Restore **restore, const UnetImageInfo *from, const UnetImageInfo *to,
                        RowTaker *taker, UnetError *error) {
    const UnetResizeShape shape = {.from = {from->height, from->width},
                                   .to = {to->height, to->width},
                                   .channels = 1,
                                   .bits = 32,
                                   .nearest = from->palette};
    const size_t bytes = unet_resize_bytes(&shape), channels = (size_t)from->channels;
    Restore *opened = *restore = calloc(1, sizeof **restore + channels * sizeof(UnetResize *));
    if (opened == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for rows of the result");
    opened->taker = taker;
    opened->from = from->width;
    opened->to = to->width;
    opened->left = to->height;
    opened->row = calloc((size_t)to->width, channels * sizeof *opened->row);
    bool good = opened->row != NULL && bytes > 0;
    for (; good && opened->channels < from->channels; opened->channels++) {
        void *memory = aligned_alloc(64, bytes);
        good = memory != NULL;
        if (good)
            opened->channel[opened->channels] = unet_resize_at(memory, &shape);
    }
    return good ? UNET_OK : unet_fail(error, UNET_TOO_SMALL, "no memory for rows of the result");
}

void restore_close(Restore *restore) {
    for (int32_t c = 0; restore != NULL && c < restore->channels; c++)
        free(restore->channel[c]);
    if (restore != NULL)
        free(restore->row);
    free(restore);
}

UnetStatus restore_put(Restore *restore, const float *row, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t c = 0; c < restore->channels; c++)
        unet_resize_push(restore->channel[c], row + (ptrdiff_t)c * restore->from);
    while (restore->left > 0 && !unet_resize_wants(restore->channel[0]) && status == UNET_OK) {
        for (int32_t c = 0; c < restore->channels; c++)
            unet_resize_pull(restore->channel[c], restore->row + (ptrdiff_t)c * restore->to);
        restore->left--;
        status = restore->taker->take(restore->taker, restore->row, error);
    }
    return status;
}
