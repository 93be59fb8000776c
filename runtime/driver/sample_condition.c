/* sample_condition.c - the classes, numbers and pictures of `--condition`, which a network reads beside the
 * noisy picture and the time.
 *
 * Requires: a model that `diffuse` trained, its normalisation.  Provides: values of all other inputs.
 */
#include "sample_condition.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unet/image.h"
#include "unet/normal.h"

/* The folders of the classes of an input, or NULL. */
static const char *const *classes_of(const UnetModel *model, int32_t input) {
    for (int32_t s = 0; model->data != NULL && s < model->data->nsource; s++) {
        const UnetSource *source = &model->data->source[s];
        const UnetSourceTerm *term = source->input == input ? unet_class_term(source) : NULL;
        if (term != NULL && source->nterm == 1)
            return term->more;
    }
    return NULL;
}

static int32_t count_names(const char *const *names) {
    int32_t count = 0;
    while (names[count] != NULL)
        count++;
    return count;
}

/* The values of the option for the input called NAME; NULL: there is no such option. */
static const char *values_of(const UnetOptions *options, const char *name) {
    const size_t length = strlen(name);
    for (int i = options->nconditions - 1; i >= 0; i--)
        if (strncmp(options->condition[i], name, length) == 0 && options->condition[i][length] == '=')
            return options->condition[i] + length + 1;
    return NULL;
}

static int32_t count_values(const char *text) {
    int32_t count = 1;
    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

/* A class by its name or its number. */
static UnetStatus read_class(const UnetInput *input, const char *const *names, const char *text,
                             size_t length, float *value, UnetError *error) {
    const int32_t named = unet_class_named(names, text, length), count = count_names(names),
                  class = named >= 0 ? named : unet_class_named(NULL, text, length);
    *value = (float)class;
    if (class < 0)
        return unet_fail(error, UNET_USAGE,
                         "`--condition`: %s has no class `%.*s`; the first is `%s`, the last `%s`",
                         input->name, (int)length, text, names[0], names[count - 1]);
    return class < count
               ? UNET_OK
               : unet_fail(error, UNET_USAGE,
                           "`--condition`: %s has %" PRId32 " classes, from 0 on, and `%.*s` is beyond",
                           input->name, count, (int)length, text);
}

static UnetStatus read_number(const UnetInput *input, const char *text, size_t length, float *value,
                              UnetError *error) {
    char *end;
    *value = strtof(text, &end);
    return length > 0 && end == text + length && isfinite(*value)
               ? UNET_OK
               : unet_fail(error, UNET_USAGE, "`--condition`: %s is a number, and `%.*s` is none",
                           input->name, (int)length, text);
}

/* ---- pictures ---- */

static UnetStatus read_rows(const Driver *driver, int32_t input, UnetImageReader *reader, float *row,
                            float *values, UnetError *error) {
    const UnetLayout *layout = &driver->model->predict->inputs[input];
    const UnetInput *of = &driver->model->inputs[input];
    const size_t width = (size_t)layout->size[2], plane = (size_t)layout->size[1] * width;
    for (int32_t y = 0; y < layout->size[1]; y++) {
        const UnetStatus status = unet_image_decode_row(reader, error);
        if (status != UNET_OK)
            return status;
        const UnetRowFormat format = unet_image_format(reader);
        unet_row_convert(&format, unet_image_bytes(reader), 0, layout->size[2], row);
        if (of->normalizing != UNET_AS_READ)
            unet_normalize(&driver->normal[input], layout->channels, width, width, row, row);
        for (int32_t c = 0; c < layout->channels; c++)
            memcpy(values + (size_t)c * plane + (size_t)y * width, row + (size_t)c * width,
                   width * sizeof *row);
    }
    return UNET_OK;
}

/* The picture at path, by way of the memory of one row. */
static UnetStatus read_picture_at(const Driver *driver, int32_t input, const char *path, float *row,
                                  float *values, UnetError *error) {
    const UnetLayout *layout = &driver->model->predict->inputs[input];
    UnetImageReader *reader = NULL;
    UnetStatus status =
        unet_image_open_as(NULL, &driver->model->inputs[input].way, &reader, path, layout->channels, error);
    if (status != UNET_OK)
        return status;
    const UnetImageInfo info = unet_image_info(reader);
    status = info.height == layout->size[1] && info.width == layout->size[2]
                 ? read_rows(driver, input, reader, row, values, error)
                 : unet_fail(error, UNET_IO,
                             "%s has %" PRId32 " x %" PRId32 " points, and %s has %" PRId32 " x %" PRId32,
                             path, info.height, info.width, driver->model->inputs[input].name,
                             layout->size[1], layout->size[2]);
    unet_image_close(reader);
    return status;
}

static UnetStatus read_picture(const Driver *driver, int32_t input, const char *text, size_t length,
                               float *values, UnetError *error) {
    const UnetLayout *layout = &driver->model->predict->inputs[input];
    char *path = strndup(text, length);
    float *row = calloc((size_t)layout->channels * (size_t)layout->size[2], sizeof *row);
    const UnetStatus status = path != NULL && row != NULL
                                  ? read_picture_at(driver, input, path, row, values, error)
                                  : unet_fail(error, UNET_TOO_SMALL, "no memory for a row of a picture");
    free(path);
    free(row);
    return status;
}

/* ---- all ---- */

/* The values of an input, one after another; all classes, if there is no option. */
static UnetStatus read_values(const Driver *driver, Condition *c, UnetError *error) {
    const UnetInput *input = &driver->model->inputs[c->input];
    const char *const *names = classes_of(driver->model, c->input);
    const char *text = values_of(&driver->options, input->name);
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < c->count && status == UNET_OK; i++) {
        float *const value = c->values + (size_t)i * c->numbers;
        if (text == NULL) {
            *value = (float)i;
            continue;
        }
        const size_t length = strcspn(text, ",");
        status = input->kind != UNET_SCALAR ? read_picture(driver, c->input, text, length, value, error)
                 : names != NULL            ? read_class(input, names, text, length, value, error)
                                            : read_number(input, text, length, value, error);
        text += length + (text[length] == ',');
    }
    return status;
}

static UnetStatus open_condition(Condition *c, const Driver *driver, int32_t input, UnetError *error) {
    const UnetModel *model = driver->model;
    const UnetLayout *layout = &model->predict->inputs[input];
    const UnetKind kind = model->inputs[input].kind;
    const char *text = values_of(&driver->options, model->inputs[input].name);
    const char *const *names = classes_of(model, input);
    *c =
        (Condition){.input = input,
                    .numbers = (size_t)layout->channels * (size_t)layout->size[1] * (size_t)layout->size[2],
                    .count = text != NULL    ? count_values(text)
                             : names != NULL ? count_names(names)
                                             : 0};
    if (kind != UNET_SCALAR && kind != UNET_IMAGE)
        return unet_fail(error, UNET_USAGE,
                         "the network also reads %s, which is no number and no picture: call it from a "
                         "program of your own (`unetc -S DIR`)",
                         model->inputs[input].name);
    if (c->count == 0)
        return unet_fail(error, UNET_USAGE, "the network also reads %s: write `--condition=%s=%s`",
                         model->inputs[input].name, model->inputs[input].name,
                         kind == UNET_SCALAR ? "NUMBER" : "FILE");
    c->values = calloc((size_t)c->count * c->numbers, sizeof *c->values);
    return c->values == NULL ? unet_fail(error, UNET_TOO_SMALL, "no memory for %" PRId32 " values of %s",
                                         c->count, model->inputs[input].name)
                             : UNET_OK;
}

static bool is_condition(const UnetModel *model, int32_t input) {
    return model->predict->inputs[input].sample_bytes > 0 && input != model->diffusion->picture &&
           input != model->diffusion->time;
}

/* Each option names a condition. */
static UnetStatus check_names(const Driver *driver, UnetError *error) {
    const UnetModel *model = driver->model;
    for (int i = 0; i < driver->options.nconditions; i++) {
        const char *given = driver->options.condition[i];
        const size_t length = strcspn(given, "=");
        bool known = false;
        for (int32_t input = 0; input < model->ninput; input++)
            known |= is_condition(model, input) && strlen(model->inputs[input].name) == length &&
                     strncmp(model->inputs[input].name, given, length) == 0;
        if (!known)
            return unet_fail(error, UNET_USAGE,
                             "`--condition=%s`: the network reads no such input beside the noisy picture "
                             "and the time",
                             given);
    }
    return UNET_OK;
}

UnetStatus conditions_open(Conditions *conditions, const Driver *driver, UnetError *error) {
    const UnetModel *model = driver->model;
    UnetStatus status = check_names(driver, error);
    conditions->item = calloc((size_t)model->ninput, sizeof *conditions->item);
    if (status == UNET_OK && conditions->item == NULL)
        status = unet_fail(error, UNET_TOO_SMALL, "no memory for the inputs of %s", model->name);
    for (int32_t input = 0; input < model->ninput && status == UNET_OK; input++)
        if (is_condition(model, input))
            status = open_condition(&conditions->item[conditions->count++], driver, input, error);
    return status;
}

UnetStatus conditions_read(Conditions *conditions, const Driver *driver, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < conditions->count && status == UNET_OK; i++)
        status = read_values(driver, &conditions->item[i], error);
    return status;
}

void conditions_close(Conditions *conditions) {
    for (int32_t i = 0; i < conditions->count; i++)
        free(conditions->item[i].values);
    free(conditions->item);
    *conditions = (Conditions){0};
}

int64_t conditions_bytes(const Conditions *conditions) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < conditions->count; i++)
        bytes += (int64_t)conditions->item[i].count * (int64_t)conditions->item[i].numbers *
                 (int64_t)sizeof(float);
    return bytes;
}
