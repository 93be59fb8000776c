/* normal.c - what inputs are normalised by, in training, evaluation and prediction alike: what the model's
 * file says, or what was measured before the first step and stands with the weights since. */
#include "driver.h"
#include "unet/words.h"

#include <stdio.h>
#include <stdlib.h>

UnetStatus normal_start(Driver *driver) {
    const UnetModel *model = driver->model;
    driver->normal = calloc((size_t)model->ninput + 1, sizeof *driver->normal);
    if (driver->normal == NULL)
        return unet_fail(&driver->error, UNET_TOO_SMALL, "no memory for what inputs are normalised by");
    for (int i = 0; i < model->ninput; i++)
        driver->normal[i] = model->inputs[i].normal;
    return UNET_OK;
}

void normal_end(Driver *driver) {
    free(driver->normal);
    driver->normal = NULL;
}

static bool is_measured(const UnetModel *model, int i) {
    return model->inputs[i].normalizing == UNET_NORMALIZED_AS_MEASURED ||
           model->inputs[i].normalizing == UNET_NORMALIZED_CT;
}

bool normal_is_measured(const UnetModel *model) {
    bool any = false;
    for (int i = 0; i < model->ninput; i++)
        any |= is_measured(model, i);
    return any;
}

UnetStatus normal_measure(Driver *driver, const UnetDataset *data) {
    const UnetModel *model = driver->model;
    if (!normal_is_measured(model))
        return UNET_OK;
    UnetStatus status = unet_dataset_measure(data, driver->normal, &driver->error);
    for (int i = 0; i < model->ninput && status == UNET_OK; i++) {
        if (!is_measured(model, i))
            continue;
        (void)fprintf(stderr, "normalize: %s: mean", model->inputs[i].name);
        for (int32_t c = 0; c < model->inputs[i].channels; c++)
            (void)fprintf(stderr, " %.4g", driver->normal[i].mean[c]);
        (void)fprintf(stderr, ", std");
        for (int32_t c = 0; c < model->inputs[i].channels; c++)
            (void)fprintf(stderr, " %.4g", driver->normal[i].deviation[c]);
        for (int32_t c = 0; c < model->inputs[i].channels && driver->normal[i].clips; c++)
            (void)fprintf(stderr, "%s %.4g to %.4g", c == 0 ? ", clipped to" : " and",
                          driver->normal[i].low[c], driver->normal[i].high[c]);
        (void)fprintf(stderr, " (%d sample%s)\n", (int)unet_dataset_samples(data),
                      unet_plural(unet_dataset_samples(data)));
    }
    return status;
}

UnetStatus normal_read(Driver *driver, const UnetSafetensors *file) {
    UnetStatus status = UNET_OK;
    for (int i = 0; i < driver->model->ninput && status == UNET_OK; i++)
        status = unet_normal_read(driver->model, i, &driver->normal[i], file, &driver->error);
    return status;
}
