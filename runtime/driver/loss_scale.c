/* loss_scale.c - the loss scale of a training in f16: how many steps were skipped because their gradients
 * overflowed, and whether that will end.  The program keeps the state of the scale where it runs, and no
 * step waits for it; it is read when progress is shown. */
#include "driver.h"

enum { IN_A_ROW = 40 }; /* a search for a better scale skips fewer steps: the scale has fallen by 2^40 */
static const double min_scale = 0x1p-100; /* it falls no further */

static const double *state_of(const UnetModel *model, const char *arena) {
    return (const double *)(const void *)(arena + model->loss_scale);
}

LossScale scale_start(const UnetModel *model, const char *arena, int64_t step) {
    if (model->loss_scale <= 0)
        return (LossScale){.scale = 0};
    const double *now = state_of(model, arena);
    int64_t taken = (int64_t)now[UNET_STEPS_TAKEN];
    return (LossScale){.scale = now[UNET_LOSS_SCALE],
                       .taken = taken,
                       .skipped = step > taken ? step - taken : 0,
                       .last_taken = step};
}

UnetStatus scale_look(LossScale *scale, Device *device, int64_t step, UnetError *error) {
    const UnetModel *model = device->model;
    if (model->loss_scale <= 0)
        return UNET_OK;
    UnetStatus status =
        device_fetch(device, model->loss_scale, UNET_LOSS_SCALE_ELEMENTS * (int64_t)sizeof(double), error);
    if (status != UNET_OK)
        return status;
    LossScale now = scale_start(model, device->arena, step);
    if (now.taken == scale->taken)
        now.last_taken = scale->last_taken;
    now.in_a_row = step - now.last_taken;
    *scale = now;
    return UNET_OK;
}

bool scale_has_collapsed(const LossScale *scale) {
    return scale->scale > 0 && (scale->in_a_row >= IN_A_ROW || scale->scale <= min_scale);
}
