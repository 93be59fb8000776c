/* driver_scale.c - what becomes of the scale of the loss in a training with f16: how many steps were
 * skipped because their gradients overflowed, and whether that will ever end.  The program keeps the
 * numbers where it runs and no step waits for them; they are looked at when something is shown. */
#include "driver.h"

enum { IN_A_ROW = 40 }; /* skipped steps that no search for a better scale explains: it fell by 2^40 */
static const double least_scale = 0x1p-100; /* it stays there */

static const double *numbers(const UnetModel *model, const char *arena) {
    return (const double *)(const void *)(arena + model->loss_scale);
}

LossScale scale_start(const UnetModel *model, const char *arena, int64_t step) {
    if (model->loss_scale <= 0)
        return (LossScale){.scale = 0};
    const double *now = numbers(model, arena);
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
        device_fetch(device, model->loss_scale, UNET_LOSS_SCALE_NUMBERS * (int64_t)sizeof(double), error);
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
    return scale->scale > 0 && (scale->in_a_row >= IN_A_ROW || scale->scale <= least_scale);
}
