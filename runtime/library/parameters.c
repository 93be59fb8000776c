/* parameters.c - the weights of a model: initial values, saving and loading. */
#include "unet/parameters.h"
#include "unet/rng.h"
#include "foreign.h"
#include "state_codes.h"
#include "wrapper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t elements(const UnetParameter *parameter) {
    int64_t count = 1;
    for (int32_t i = 0; i < parameter->rank; i++) {
        count *= parameter->dim[i];
    }
    return count;
}

/* ---- initial values --------------------------------------------------------------------------- */

/* Fills COUNT reals at VALUES from floats at their front; backwards, so that nothing is overwritten before
 * it is read. */
static void widen(double *values, int64_t count) {
    const char *floats = (const char *)values;
    for (int64_t i = count - 1; i >= 0; i--) {
        float value;
        memcpy(&value, floats + i * (int64_t)sizeof value, sizeof value);
        values[i] = (double)value;
    }
}

static void fill(float *values, int64_t count, float value) {
    for (int64_t i = 0; i < count; i++) {
        values[i] = value;
    }
}

static void draw(const UnetParameter *parameter, UnetTwister *twister, float *values) {
    int64_t count = elements(parameter);
    float bound = (float)parameter->bound;
    switch (parameter->init) {
    case UNET_INIT_ZEROS:
        fill(values, count, 0.0f);
        break;
    case UNET_INIT_ONES:
        fill(values, count, 1.0f);
        break;
    case UNET_INIT_UNIFORM:
        unet_twister_uniform(twister, -bound, bound, (size_t)count, values);
        break;
    case UNET_INIT_HE_NORMAL:
        unet_twister_normal(twister, 0.0f, bound, (size_t)count, values);
        break;
    case UNET_INIT_CONSTANT:
        fill(values, count, bound);
        break;
    }
}

/* How many moments the optimiser keeps of a parameter, at most. */
static int moment_count(const UnetModel *model) {
    int count = 0;
    while (model->training != NULL && count < UNET_MOST_MOMENTS &&
           model->training->moments[count] != NULL) {
        count++;
    }
    return count;
}

static bool keeps_averages(const UnetModel *model) {
    return model->training != NULL && model->training->averages;
}

/* Does moment WHICH of PARAMETER lie in codes? */
static bool in_codes(const UnetModel *model, const UnetParameter *parameter, int which) {
    return model->training->codes_state && !(keeps_averages(model) && which == moment_count(model) - 1) &&
           parameter->moments[which] >= 0 && unet_is_coded(parameter->rank, elements(parameter)) != 0;
}

/* PyTorch's names of second moments, which have no signs, say that they are squares: "exp_avg_sq". */
static bool has_sign(const UnetModel *model, int which) {
    return strstr(model->training->moments[which], "sq") == NULL;
}

int64_t unet_weights_offset(const UnetModel *model, int32_t parameter) {
    const UnetParameter *p = &model->parameter[parameter];
    const int64_t average = keeps_averages(model) ? p->moments[moment_count(model) - 1] : -1;
    return average >= 0 ? average : p->offset;
}

/* Averages begin with the weights. */
static void start_averages(const UnetModel *model, void *arena) {
    for (int32_t i = 0; i < model->nparameter; i++) {
        const UnetParameter *p = &model->parameter[i];
        memmove((char *)arena + unet_weights_offset(model, i), (char *)arena + p->offset,
                (size_t)elements(p) * unet_type_bytes(model->real));
    }
}

static double *loss_scale(const UnetModel *model, void *arena) {
    return (double *)(void *)((char *)arena + model->loss_scale);
}

static void start_loss_scale(double *scale, int64_t step) {
    for (int i = 0; i < UNET_LOSS_SCALE_ELEMENTS; i++) {
        scale[i] = 0;
    }
    scale[UNET_LOSS_SCALE] = UNET_LOSS_SCALE_START;
    scale[UNET_STEPS_TAKEN] = (double)step;
}

void unet_parameters_init(const UnetModel *model, uint64_t seed, void *arena) {
    UnetTwister twister;
    unet_twister_seed(&twister, seed);
    for (int32_t i = 0; i < model->nparameter; i++) {
        void *values = (char *)arena + model->parameter[i].offset;
        draw(&model->parameter[i], &twister, values);
        if (model->real == UNET_F64) {
            widen(values, elements(&model->parameter[i]));
        }
    }
    start_averages(model, arena);
    if (model->loss_scale > 0) {
        start_loss_scale(loss_scale(model, arena), 0);
    }
}

int64_t unet_parameter_draws(const UnetModel *model) {
    int64_t draws = 0;
    for (int32_t i = 0; i < model->nparameter; i++) {
        int64_t count = elements(&model->parameter[i]);
        if (model->parameter[i].init == UNET_INIT_UNIFORM) {
            draws += count;
        } else if (model->parameter[i].init == UNET_INIT_HE_NORMAL) {
            draws += unet_twister_normal_draws(count);
        }
    }
    return draws;
}

/* ---- saving ----------------------------------------------------------------------------------- */

enum { MOMENT_PREFIX = 64 };

/* Writes the prefix that the name of moment WHICH has in front of the parameter's name:
 * "optimizer.exp_avg.". */
static void write_moment_prefix(char prefix[MOMENT_PREFIX], const UnetModel *model, int which) {
    (void)snprintf(prefix, MOMENT_PREFIX, "optimizer.%s.", model->training->moments[which]);
}

static const char maxima_prefix[] = "optimizer.absmax.";

/* The same for the maxima of its blocks: "optimizer.absmax.exp_avg.". */
static void write_maxima_prefix(char prefix[MOMENT_PREFIX], const UnetModel *model, int which) {
    (void)snprintf(prefix, MOMENT_PREFIX, "%s%s.", maxima_prefix, model->training->moments[which]);
}

typedef struct {
    const UnetModel *model;
    const char *arena;
    bool moments; /* with the weights that are trained, which need not be the weights that are used */
    int32_t kept; /* moments of a parameter */
    int32_t all;  /* parameters, moments and, of moments in codes, maxima */
    const UnetTensor *more;
    char prefix[2 * UNET_MOST_MOMENTS][MOMENT_PREFIX]; /* of moments, then of their maxima */
} Saved;

static const char loss_scale_name[] = "optimizer.loss_scale";

static bool saves_loss_scale(const Saved *saved) {
    return saved->moments && saved->model->loss_scale > 0;
}

/* Moment WHICH of PARAMETER, in codes if it lies so. */
static void moment_tensor(const Saved *saved, const UnetParameter *parameter, int which,
                          UnetTensor *tensor) {
    const int64_t offset = parameter->moments[which];
    *tensor = (UnetTensor){.prefix = saved->prefix[which],
                           .name = parameter->name,
                           .type = in_codes(saved->model, parameter, which) ? UNET_U8 : saved->model->real,
                           .rank = parameter->rank,
                           .values = offset < 0 ? NULL : saved->arena + offset};
    memcpy(tensor->dim, parameter->dim, sizeof parameter->dim);
}

static void maxima_tensor(const Saved *saved, const UnetParameter *parameter, int which,
                          UnetTensor *tensor) {
    const int64_t count = elements(parameter), offset = parameter->moments[which] + unet_code_maxima(count);
    *tensor = (UnetTensor){
        .prefix = saved->prefix[saved->kept + which],
        .name = parameter->name,
        .type = saved->model->real,
        .rank = 1,
        .dim = {unet_code_blocks(count)},
        .values = in_codes(saved->model, parameter, which) ? saved->arena + offset : NULL,
    };
}

/* Tensors are the parameters, then the first moments of all, then the second ones and so on, then
 * the maxima of moments in codes in the same order, the scale of the loss, and what the caller adds.  A
 * parameter without a gradient has no moments: their tensors are left out. */
static void saved_tensor(const void *context, int32_t index, UnetTensor *tensor) {
    const Saved *saved = context;
    int32_t nparameter = saved->model->nparameter;
    if (index >= saved->all && (index > saved->all || !saves_loss_scale(saved))) {
        *tensor = *saved->more;
        return;
    }
    if (index == saved->all) {
        *tensor = (UnetTensor){.prefix = "",
                               .name = loss_scale_name,
                               .type = UNET_F64,
                               .rank = 1,
                               .dim = {UNET_LOSS_SCALE_ELEMENTS},
                               .values = saved->arena + saved->model->loss_scale};
        return;
    }
    const UnetParameter *parameter = &saved->model->parameter[index % nparameter];
    int which = index / nparameter - 1;
    if (which >= saved->kept) {
        maxima_tensor(saved, parameter, which - saved->kept, tensor);
        return;
    }
    if (which >= 0) {
        moment_tensor(saved, parameter, which, tensor);
        return;
    }
    *tensor = (UnetTensor){
        .prefix = "",
        .name = parameter->name,
        .type = saved->model->real,
        .rank = parameter->rank,
        .values =
            saved->arena + (saved->moments ? parameter->offset : unet_weights_offset(saved->model, index)),
    };
    memcpy(tensor->dim, parameter->dim, sizeof parameter->dim);
}

UnetStatus unet_parameters_save(const UnetModel *model, const void *arena, bool moments,
                                const UnetTensor *more, const char *path, const UnetMetadata *metadata,
                                int32_t nmetadata, UnetError *error) {
    const int32_t kept = moments ? moment_count(model) : 0;
    const int32_t groups = 1 + kept + (kept > 0 && model->training->codes_state ? kept : 0);
    Saved saved = {.model = model, .arena = arena, .moments = moments, .kept = kept, .more = more};
    int32_t count;
    for (int which = 0; which < kept; which++) {
        write_moment_prefix(saved.prefix[which], model, which);
        write_maxima_prefix(saved.prefix[kept + which], model, which);
    }
    if (__builtin_mul_overflow(groups, model->nparameter, &saved.all) ||
        __builtin_add_overflow(saved.all, saves_loss_scale(&saved) + (more != NULL), &count)) {
        return unet_fail(error, UNET_BUG, "%s: too many parameters", path);
    }
    return unet_safetensors_save(path, saved_tensor, &saved, count, metadata, nmetadata, error);
}

/* ---- loading ---------------------------------------------------------------------------------- */

int64_t unet_parameters_header(const UnetModel *model) {
    const int64_t of_others = 4 << 20, of_tensor = 1024;
    return of_others + of_tensor * model->nparameter * (1 + 2 * moment_count(model));
}

/* Whether two shapes are equal once their dimensions of 1 are left out. */
static bool same_shape(const int64_t *a, int32_t rank_a, const int64_t *b, int32_t rank_b) {
    int32_t i = 0, j = 0;
    for (;;) {
        while (i < rank_a && a[i] == 1) {
            i++;
        }
        while (j < rank_b && b[j] == 1) {
            j++;
        }
        if (i == rank_a || j == rank_b) {
            return i == rank_a && j == rank_b;
        }
        if (a[i++] != b[j++]) {
            return false;
        }
    }
}

enum { SHAPE_TEXT = 160 };

static void write_shape(char text[SHAPE_TEXT], const int64_t *dim, int32_t rank) {
    size_t used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < rank && used < SHAPE_TEXT - 24; i++) {
        int length =
            snprintf(text + used, SHAPE_TEXT - used, "%s%lld", i > 0 ? " x " : "", (long long)dim[i]);
        used += length > 0 ? (size_t)length : 0;
    }
    if (rank == 0) {
        snprintf(text, SHAPE_TEXT, "a single number");
    }
}

enum { WHY_TEXT = 512 };

/* The tensor called PREFIX + NAME if it fits PARAMETER, else -1 and in WHY the reason. */
static int32_t find_fitting(const UnetSafetensors *file, const char *prefix, const UnetParameter *parameter,
                            char why[WHY_TEXT]) {
    char name[512];
    int length = snprintf(name, sizeof name, "%s%s", prefix, parameter->name);
    int32_t index = length >= 0 && (size_t)length < sizeof name ? unet_safetensors_find(file, name) : -1;
    if (index < 0) {
        snprintf(why, WHY_TEXT, "not in the file");
        return -1;
    }
    const UnetTensorInfo *tensor = unet_safetensors_tensor(file, index);
    if (!same_shape(tensor->dim, tensor->rank, parameter->dim, parameter->rank)) {
        char there[SHAPE_TEXT], here[SHAPE_TEXT];
        write_shape(there, tensor->dim, tensor->rank);
        write_shape(here, parameter->dim, parameter->rank);
        snprintf(why, WHY_TEXT, "is %s in the file, %s here", there, here);
        return -1;
    }
    return index;
}

/* Reads the tensor called PREFIX + the parameter's name to VALUES, of this TYPE; it must be there and fit.
 */
static UnetStatus load_one(UnetType type, const UnetSafetensors *file, const char *prefix,
                           const UnetParameter *parameter, void *values, UnetError *error) {
    char why[WHY_TEXT];
    int32_t index = find_fitting(file, prefix, parameter, why);
    if (index < 0) {
        char advice[ADVICE_BYTES] = "";
        if (unet_safetensors_find(file, parameter->name) < 0 && prefix[0] == '\0') {
            advise_names(file, parameter->name, advice);
        }
        return unet_fail(error, UNET_IO, "%s: %s%s: %s%s", unet_safetensors_path(file), prefix,
                         parameter->name, why, advice);
    }
    return unet_safetensors_read(file, index, type, values, error);
}

static bool is_parameter(const UnetModel *model, const char *name) {
    for (int32_t i = 0; i < model->nparameter; i++) {
        if (strcmp(model->parameter[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* PyTorch counts the batches that a running statistic has seen; with a fixed momentum nobody needs that. */
static bool counts_batches(const UnetModel *model, const char *name) {
    static const char count[] = ".num_batches_tracked";
    char statistic[512];
    size_t length = strlen(name), suffix = sizeof count - 1;
    if (length <= suffix || strcmp(name + length - suffix, count) != 0) {
        return false;
    }
    int written = snprintf(statistic, sizeof statistic, "%.*s.running_mean", (int)(length - suffix), name);
    return written > 0 && (size_t)written < sizeof statistic && is_parameter(model, statistic);
}

static void report_unused(const UnetModel *model, const UnetSafetensors *file, const char *prefix,
                          UnetLoadReport *report, void *context) {
    static const char state[] = "optimizer.";
    const size_t wrapped = strlen(prefix);
    for (int32_t i = 0; i < unet_safetensors_count(file); i++) {
        const char *name = unet_safetensors_tensor(file, i)->name;
        const bool known = strncmp(name, prefix, wrapped) == 0 &&
                           (is_parameter(model, name + wrapped) || counts_batches(model, name + wrapped));
        if (strncmp(name, state, sizeof state - 1) != 0 && !known) {
            report(context, name, "not in the model");
        }
    }
}

UnetStatus unet_parameters_load(const UnetModel *model, const UnetSafetensors *file, UnetLoadMode mode,
                                void *arena, UnetLoadReport *report, void *context, UnetError *error) {
    int32_t loaded = 0;
    char prefix[WRAPPER_BYTES];
    wrapper_of(model, file, prefix);
    if (prefix[0] != '\0' && report != NULL) {
        report(context, prefix, "stands in front of the names in the file, and is left out");
    }
    for (int32_t i = 0; i < model->nparameter; i++) {
        const UnetParameter *parameter = &model->parameter[i];
        char why[WHY_TEXT];
        if (mode == UNET_LOAD_MATCHING && find_fitting(file, prefix, parameter, why) < 0) {
            if (report != NULL) {
                report(context, parameter->name, why);
            }
            continue;
        }
        UnetStatus status =
            load_one(model->real, file, prefix, parameter, (char *)arena + parameter->offset, error);
        if (status != UNET_OK) {
            return status;
        }
        loaded++;
    }
    if (report != NULL) {
        report_unused(model, file, prefix, report, context);
    }
    start_averages(model, arena);
    if (loaded == 0 && model->nparameter > 0) {
        char advice[ADVICE_BYTES];
        advise_names(file, model->parameter[0].name, advice);
        return unet_fail(error, UNET_IO, "%s: no tensor has the name and shape of a parameter of %s%s",
                         unet_safetensors_path(file), model->name, advice);
    }
    return UNET_OK;
}

bool unet_has_loss_scale(const UnetSafetensors *file) {
    return unet_safetensors_find(file, loss_scale_name) >= 0;
}

static UnetStatus load_loss_scale(const UnetModel *model, const UnetSafetensors *file, int64_t step,
                                  void *arena, UnetError *error) {
    const UnetParameter as_saved = {.name = loss_scale_name, .rank = 1, .dim = {UNET_LOSS_SCALE_ELEMENTS}};
    double *scale = loss_scale(model, arena);
    char why[WHY_TEXT];
    if (!unet_has_loss_scale(file)) {
        start_loss_scale(scale, step);
        return UNET_OK;
    }
    int32_t index = find_fitting(file, "", &as_saved, why);
    if (index < 0) {
        return unet_fail(error, UNET_IO, "%s: %s: %s", unet_safetensors_path(file), loss_scale_name, why);
    }
    UnetStatus status = unet_safetensors_read(file, index, UNET_F64, scale, error);
    for (int i = 0; status == UNET_OK && i < UNET_LOSS_SCALE_ELEMENTS; i++) {
        bool counts = i == UNET_GOOD_STEPS || i == UNET_STEPS_TAKEN;
        if (!(scale[i] >= 0 && scale[i] < INFINITY) || (i == UNET_LOSS_SCALE && scale[i] == 0) ||
            (counts && scale[i] > 0x1p53)) {
            return unet_fail(error, UNET_IO, "%s: %s: %g is not a valid value", unet_safetensors_path(file),
                             loss_scale_name, scale[i]);
        }
    }
    return status;
}

const char *unet_parameters_not_finite(const UnetModel *model, const void *arena) {
    for (int32_t i = 0; i < model->nparameter; i++) {
        const UnetParameter *parameter = &model->parameter[i];
        const char *values = (const char *)arena + parameter->offset;
        bool finite = true;
        for (int64_t k = 0; k < elements(parameter); k++) {
            finite &= model->real == UNET_F64 ? isfinite(((const double *)(const void *)values)[k]) != 0
                                              : isfinite(((const float *)(const void *)values)[k]) != 0;
        }
        if (!finite) {
            return parameter->name;
        }
    }
    return NULL;
}

/* ---- the optimiser's state -------------------------------------------------------------------- */

/* A moment of a parameter, in a file and in the arena. */
typedef struct {
    const UnetModel *model;
    const UnetSafetensors *file;
    const UnetParameter *parameter;
    int which;
    void *state;
} Moment;

static bool is_coded_in(const UnetSafetensors *file, const char *prefix, const UnetParameter *parameter) {
    char why[WHY_TEXT];
    const int32_t index = find_fitting(file, prefix, parameter, why);
    return index >= 0 && strcmp(unet_safetensors_tensor(file, index)->type, "U8") == 0;
}

/* The largest absolute values of the blocks. */
static UnetStatus load_maxima(const Moment *moment, void *maxima, UnetError *error) {
    char prefix[MOMENT_PREFIX];
    const UnetParameter blocks = {
        .name = moment->parameter->name, .rank = 1, .dim = {unet_code_blocks(elements(moment->parameter))}};
    write_maxima_prefix(prefix, moment->model, moment->which);
    return load_one(moment->model->real, moment->file, prefix, &blocks, maxima, error);
}

/* Codes from a file with codes. */
static UnetStatus load_codes(const Moment *moment, const char *prefix, UnetError *error) {
    char *codes = moment->state;
    const UnetStatus status = load_one(UNET_U8, moment->file, prefix, moment->parameter, codes, error);
    return status == UNET_OK
               ? load_maxima(moment, codes + unet_code_maxima(elements(moment->parameter)), error)
               : status;
}

/* Reals from a file with codes, which are read to the last bytes of these. */
static UnetStatus load_decoded(const Moment *moment, const char *prefix, UnetError *error) {
    const UnetType real = moment->model->real;
    const int64_t count = elements(moment->parameter), bytes = (int64_t)unet_type_bytes(real);
    uint8_t *codes = (uint8_t *)moment->state + count * (bytes - 1);
    void *maxima = malloc((size_t)(unet_code_blocks(count) * bytes));
    if (maxima == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", unet_safetensors_path(moment->file));
    }
    UnetStatus status = load_one(UNET_U8, moment->file, prefix, moment->parameter, codes, error);
    if (status == UNET_OK) {
        status = load_maxima(moment, maxima, error);
    }
    if (status == UNET_OK) {
        state_decode(real, has_sign(moment->model, moment->which), codes, maxima, count, moment->state);
    }
    free(maxima);
    return status;
}

/* Codes from a file with reals. */
static UnetStatus load_encoded(const Moment *moment, const char *prefix, UnetError *error) {
    const UnetType real = moment->model->real;
    const int64_t count = elements(moment->parameter);
    void *values = malloc((size_t)count * unet_type_bytes(real));
    if (values == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", unet_safetensors_path(moment->file));
    }
    const UnetStatus status = load_one(real, moment->file, prefix, moment->parameter, values, error);
    if (status == UNET_OK) {
        state_encode(real, has_sign(moment->model, moment->which), values, count, moment->state);
    }
    free(values);
    return status;
}

static UnetStatus load_moment(const Moment *moment, UnetError *error) {
    char prefix[MOMENT_PREFIX];
    write_moment_prefix(prefix, moment->model, moment->which);
    const bool here = in_codes(moment->model, moment->parameter, moment->which),
               there = is_coded_in(moment->file, prefix, moment->parameter);
    if (here) {
        return there ? load_codes(moment, prefix, error) : load_encoded(moment, prefix, error);
    }
    return there ? load_decoded(moment, prefix, error)
                 : load_one(moment->model->real, moment->file, prefix, moment->parameter, moment->state,
                            error);
}

UnetStatus unet_moments_load(const UnetModel *model, const UnetSafetensors *file, int64_t step, void *arena,
                             UnetError *error) {
    const int moments = moment_count(model);
    for (int which = 0; which < moments; which++) {
        for (int32_t i = 0; i < model->nparameter; i++) {
            const UnetParameter *parameter = &model->parameter[i];
            const Moment moment = {model, file, parameter, which,
                                   (char *)arena + parameter->moments[which]};
            if (parameter->moments[which] < 0) {
                continue;
            }
            UnetStatus status = load_moment(&moment, error);
            if (status != UNET_OK) {
                return status;
            }
        }
    }
    return model->loss_scale > 0 ? load_loss_scale(model, file, step, arena, error) : UNET_OK;
}

bool unet_has_state_codes(const UnetModel *model) {
    for (int32_t i = 0; model->training != NULL && i < model->nparameter; i++) {
        if (moment_count(model) > 0 && in_codes(model, &model->parameter[i], 0)) {
            return true;
        }
    }
    return false;
}

bool unet_file_has_state_codes(const UnetSafetensors *file) {
    for (int32_t i = 0; i < unet_safetensors_count(file); i++) {
        if (strncmp(unet_safetensors_tensor(file, i)->name, maxima_prefix, sizeof maxima_prefix - 1) == 0) {
            return true;
        }
    }
    return false;
}
