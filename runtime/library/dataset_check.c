/* dataset_check.c - looks for everything that could stop a training run because of its data. */
#include "dataset_parts.h"

/* Decodes one file to its end. */
static UnetStatus decode(const UnetDataset *dataset, int32_t sample, int32_t series, UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = dataset_open_file(dataset, &dataset->sample[sample], series, &reader, error);
    if (reader == NULL) {
        return status;
    }
    status = unet_image_skip_rows(reader, unet_image_info(reader).height, error);
    unet_image_close(reader);
    return status;
}

static UnetStatus decode_all(const UnetDataset *dataset, Listener *listener, UnetDataCheck *check,
                             UnetError *error) {
    for (int32_t s = 0; s < dataset->nsample; s++) {
        for (int32_t i = 0; i < dataset->nseries; i++) {
            UnetStatus status = decode(dataset, s, i, error);
            check->files++;
            if (status != UNET_OK) {
                status = dataset_problem(listener, status, error);
            }
            if (status != UNET_OK) {
                return status;
            }
        }
    }
    return UNET_OK;
}

static UnetStatus check_purpose(const UnetModel *model, UnetPurpose purpose, const char *folder,
                                Listener *listener, UnetDataCheck *check, UnetError *error) {
    UnetDataset *dataset;
    UnetStatus status = dataset_open(&dataset, model, purpose, folder, false, listener, error);
    if (dataset == NULL) {
        return dataset_problem(listener, status, error);
    }
    status = decode_all(dataset, listener, check, error);
    check->samples[purpose] = dataset->nsample;
    unet_dataset_close(dataset);
    return status;
}

UnetStatus unet_check_data(const UnetModel *model, const char *folder, UnetProblemReport *report,
                           void *context, UnetDataCheck *check, UnetError *error) {
    Listener listener = {.report = report, .context = context};
    *check = (UnetDataCheck){0};
    UnetStatus status = UNET_OK;
    if (unet_dataset_exists(model, UNET_TRAINING)) {
        status = check_purpose(model, UNET_TRAINING, folder, &listener, check, error);
    }
    if (status == UNET_OK && model->eval_data != NULL && model->eval_data->nsource > 0 &&
        model->eval != NULL) {
        status = check_purpose(model, UNET_EVALUATION, folder, &listener, check, error);
    }
    check->problems = listener.count;
    return status;
}
