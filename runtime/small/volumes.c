/* volumes.c - in place of the driver's predict_volume.c and predict_windows.c: a program without libraries
 * cannot write volumes, and unetc makes none for a network that reads them. */
#include "predict.h"

static UnetStatus refuse(UnetError *error) {
    return unet_fail(error, UNET_BUG, "volumes are left out by --no-images");
}

UnetStatus prediction_check_volume(const Prediction *prediction) {
    return refuse(&prediction->driver->error);
}

UnetStatus prediction_check_volume_size(const Prediction *prediction, const char *in) {
    (void)in;
    return refuse(&prediction->driver->error);
}

UnetStatus prediction_read_volume(const char *in, UnetError *error) {
    (void)in;
    return refuse(error);
}

UnetStatus predict_volume(Prediction *prediction, const char *in) {
    (void)in;
    return refuse(&prediction->driver->error);
}

int64_t windows_bytes(const UnetModel *model, int32_t height, int32_t width) {
    (void)model, (void)height, (void)width;
    return 0;
}
