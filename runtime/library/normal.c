/* normal.c - normalisation of inputs. */
#include "unet/normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void unet_normalize(const UnetNormal *normal, int32_t channels, size_t count, size_t stride,
                    const float *from, float *to) {
    for (int32_t c = 0; c < channels; c++) {
        const float mean = (float)normal->mean[c], deviation = (float)normal->deviation[c];
        for (size_t i = 0; i < count; i++) {
            size_t at = (size_t)c * stride + i;
            to[at] = (from[at] - mean) / deviation;
        }
    }
}

void unet_normal_format(const UnetNormal *normal, int32_t channels, char text[UNET_NORMAL_BYTES]) {
    size_t length = 0;
    text[0] = '\0';
    for (int32_t c = 0; c < channels && length < UNET_NORMAL_BYTES; c++) {
        int n = snprintf(text + length, UNET_NORMAL_BYTES - length, "%s%.17g %.17g", c > 0 ? " " : "",
                         normal->mean[c], normal->deviation[c]);
        length += n > 0 ? (size_t)n : 0;
    }
}

bool unet_normal_parse(UnetNormal *normal, int32_t channels, const char *text) {
    for (int32_t i = 0; i < 2 * channels; i++) {
        char *end;
        double number = strtod(text, &end);
        bool good = end != text && isfinite(number) && (i % 2 == 0 || number > 0);
        if (!good) {
            return false;
        }
        *(i % 2 == 0 ? &normal->mean[i / 2] : &normal->deviation[i / 2]) = number;
        text = end;
    }
    return *text == '\0';
}

void unet_normal_key(const UnetModel *model, int32_t i, char key[UNET_NORMAL_KEY_BYTES]) {
    (void)snprintf(key, UNET_NORMAL_KEY_BYTES, "unet.normal.%.100s", model->inputs[i].name);
}

UnetStatus unet_normal_read(const UnetModel *model, int32_t i, UnetNormal *normal,
                            const UnetSafetensors *file, UnetError *error) {
    char key[UNET_NORMAL_KEY_BYTES];
    unet_normal_key(model, i, key);
    const char *text = unet_safetensors_metadata(file, key);
    if (model->inputs[i].normalizing != UNET_NORMALIZED_AS_MEASURED)
        return UNET_OK;
    if (text != NULL && unet_normal_parse(normal, model->inputs[i].channels, text))
        return UNET_OK;
    return unet_fail(error, UNET_IO,
                     "%s: %s is missing or wrong: it says what `normalize` measured of \"%.100s\" when "
                     "the weights were trained. Weights from elsewhere need `normalize mean = [...], "
                     "std = [...]`",
                     unet_safetensors_path(file), key, model->inputs[i].name);
}
