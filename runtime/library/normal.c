/* normal.c - normalisation of inputs. */
#include "unet/normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void unet_normalize(const UnetNormal *normal, int32_t channels, size_t count, size_t stride,
                    const float *from, float *to) {
    for (int32_t c = 0; c < channels; c++) {
        const float mean = (float)normal->mean[c], deviation = (float)normal->deviation[c];
        const float low = normal->clips ? (float)normal->low[c] : -INFINITY;
        const float high = normal->clips ? (float)normal->high[c] : INFINITY;
        for (size_t i = 0; i < count; i++) {
            size_t at = (size_t)c * stride + i;
            const float value = from[at] < low ? low : from[at] > high ? high : from[at];
            to[at] = (value - mean) / deviation;
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
    for (int32_t c = 0; c < channels && normal->clips && length < UNET_NORMAL_BYTES; c++) {
        int n = snprintf(text + length, UNET_NORMAL_BYTES - length, " %.17g %.17g", normal->low[c],
                         normal->high[c]);
        length += n > 0 ? (size_t)n : 0;
    }
}

/* COUNT pairs of numbers; false where there are fewer, or one is none. */
static bool parse_pairs(const char **text, int32_t count, double *first, double *second) {
    for (int32_t i = 0; i < 2 * count; i++) {
        char *end;
        const double number = strtod(*text, &end);
        if (end == *text || !isfinite(number)) {
            return false;
        }
        *(i % 2 == 0 ? &first[i / 2] : &second[i / 2]) = number;
        *text = end;
    }
    return true;
}

bool unet_normal_parse(UnetNormal *normal, int32_t channels, bool clips, const char *text) {
    bool good = parse_pairs(&text, channels, normal->mean, normal->deviation) &&
                (!clips || parse_pairs(&text, channels, normal->low, normal->high));
    normal->clips = clips;
    for (int32_t c = 0; c < channels && good; c++) {
        good = normal->deviation[c] > 0 && (!clips || normal->low[c] <= normal->high[c]);
    }
    return good && *text == '\0';
}

bool unet_normal_is_each(UnetNormalizing how) {
    return how == UNET_NORMALIZED_EACH || how == UNET_NORMALIZED_MASKED;
}

void unet_normal_key(const UnetModel *model, int32_t i, char key[UNET_NORMAL_KEY_BYTES]) {
    (void)snprintf(key, UNET_NORMAL_KEY_BYTES, "unet.normal.%.100s", model->inputs[i].name);
}

UnetStatus unet_normal_read(const UnetModel *model, int32_t i, UnetNormal *normal,
                            const UnetSafetensors *file, UnetError *error) {
    char key[UNET_NORMAL_KEY_BYTES];
    unet_normal_key(model, i, key);
    const char *text = unet_safetensors_metadata(file, key);
    const bool ct = model->inputs[i].normalizing == UNET_NORMALIZED_CT;
    if (model->inputs[i].normalizing != UNET_NORMALIZED_AS_MEASURED && !ct)
        return UNET_OK;
    if (text != NULL && unet_normal_parse(normal, model->inputs[i].channels, ct, text))
        return UNET_OK;
    return unet_fail(error, UNET_IO,
                     "%s: %s is missing or wrong: it says what `normalize` measured of \"%.100s\" when "
                     "the weights were trained. Weights from elsewhere need `normalize mean = [...], "
                     "std = [...]`",
                     unet_safetensors_path(file), key, model->inputs[i].name);
}
