/* parameters_test.c - initial weights bit-equal to PyTorch's; weights and optimiser state saved and loaded,
 * whole or in part, and the errors of a file told by name. */
#include "check.h"
#include "recorded.h"
#include "unet/parameters.h"
#include "unet/rng.h"

#include <math.h>
#include <unistd.h>

enum { PARAMETERS = 12, BYTES = 1 << 19 };

/* The layers of record.py: weight dimensions and the fan-in that PyTorch computes for them. */
static const struct {
    int64_t weight[5];
    int32_t rank;
    int64_t bias;
    int fan_in;
} layers[PARAMETERS / 2] = {
    {{5, 3, 3, 3}, 4, 5, 27},    {{5, 7, 2, 2}, 4, 7, 28}, {{4, 11}, 2, 4, 11},
    {{3, 2, 1, 3, 3}, 5, 3, 18}, {{4, 3, 3, 5}, 4, 4, 45}, {{70, 64, 3, 3}, 4, 70, 576},
};
static const char *const names[PARAMETERS] = {"0.weight", "0.bias", "1.weight", "1.bias",
                                              "2.weight", "2.bias", "3.weight", "3.bias",
                                              "4.weight", "4.bias", "5.weight", "5.bias"};

enum { MOST = 1 << 20 }; /* bytes of a header */

static int64_t count_of(const UnetParameter *parameter) {
    int64_t count = 1;
    for (int32_t i = 0; i < parameter->rank; i++) {
        count *= parameter->dim[i];
    }
    return count;
}

static void make_parameters(UnetParameter parameters[PARAMETERS], size_t real, bool moments) {
    int64_t offset = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        UnetParameter *parameter = &parameters[i];
        bool bias = i % 2 == 1;
        *parameter = (UnetParameter){.name = names[i],
                                     .rank = bias ? 1 : layers[i / 2].rank,
                                     .init = UNET_INIT_UNIFORM,
                                     .bound = 1 / sqrt(layers[i / 2].fan_in),
                                     .moments = {-1, -1}};
        memcpy(parameter->dim, layers[i / 2].weight, sizeof parameter->dim);
        if (bias) {
            parameter->dim[0] = layers[i / 2].bias;
        }
        int64_t bytes = count_of(parameter) * (int64_t)real;
        parameter->offset = offset;
        offset += bytes;
        for (int m = 0; moments && m < 2; m++) {
            parameter->moments[m] = offset;
            offset += bytes;
        }
    }
}

static uint64_t checksum(const void *values, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ ((const unsigned char *)values)[i]) * 0x100000001b3u;
    }
    return sum;
}

static void test_initial(uint64_t seed, const uint64_t *recorded) {
    static char arena[2 * BYTES];
    static double wide[BYTES / 4];
    UnetParameter parameters[PARAMETERS];
    make_parameters(parameters, sizeof(float), false);
    UnetModel model = {.real = UNET_F32, .nparameter = PARAMETERS, .parameter = parameters};
    unet_parameters_init(&model, seed, arena);
    for (int i = 0; i < PARAMETERS; i++) {
        size_t bytes = (size_t)count_of(&parameters[i]) * sizeof(float);
        CHECK(checksum(arena + parameters[i].offset, bytes) == recorded[i],
              "seed %d: %s differs from PyTorch's", (int)seed, names[i]);
    }
    UnetParameter doubles[PARAMETERS];
    make_parameters(doubles, sizeof(double), false);
    UnetModel wide_model = {.real = UNET_F64, .nparameter = PARAMETERS, .parameter = doubles};
    unet_parameters_init(&wide_model, seed, wide);
    for (int64_t i = 0; i < count_of(&parameters[PARAMETERS - 2]); i++) {
        float single = ((float *)(void *)(arena + parameters[PARAMETERS - 2].offset))[i];
        double widened = wide[doubles[PARAMETERS - 2].offset / 8 + i];
        CHECK(widened == (double)single, "the double model starts elsewhere");
    }
    UnetTwister twister;
    unet_twister_seed(&twister, seed);
    int64_t total = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        total += count_of(&parameters[i]);
    }
    CHECK(unet_parameter_draws(&model) == total, "draws of the initial weights");
}

/* ---- files -------------------------------------------------------------------------------------- */

typedef struct {
    char text[4096];
} Heard;

static void hear(void *context, const char *name, const char *why) {
    Heard *heard = context;
    size_t used = strlen(heard->text);
    snprintf(heard->text + used, sizeof heard->text - used, "%s: %s\n", name, why);
}

static UnetStatus load(const UnetModel *model, const char *path, UnetLoadMode mode, char *arena,
                       Heard *heard, UnetError *error) {
    UnetSafetensors *file;
    UnetStatus status = unet_safetensors_open(&file, path, MOST, error);
    if (status == UNET_OK) {
        status = unet_parameters_load(model, file, mode, arena, heard != NULL ? hear : NULL, heard, error);
    }
    unet_safetensors_close(file);
    return status;
}

static void test_files(UnetType real, const char *folder) {
    static char arena[BYTES * 6], loaded[BYTES * 6];
    UnetParameter parameters[PARAMETERS];
    size_t size = unet_type_bytes(real);
    UnetTraining training = {.moments = {"exp_avg", "exp_avg_sq"}};
    make_parameters(parameters, size, true);
    parameters[0].moments[0] = parameters[0].moments[1] = -1; /* never trained */
    UnetModel model = {.name = "net",
                       .real = real,
                       .nparameter = PARAMETERS,
                       .parameter = parameters,
                       .training = &training};
    size_t used = (size_t)(parameters[PARAMETERS - 1].moments[1]) + 70 * size;
    memset(arena, 0, sizeof arena);
    memset(loaded, 0, sizeof loaded);
    unet_parameters_init(&model, 3, arena);
    for (int i = 1; i < PARAMETERS; i++) {
        memset(arena + parameters[i].moments[0], i, 8);
        memset(arena + parameters[i].moments[1], 2 * i, 8);
    }
    char path[100];
    snprintf(path, sizeof path, "%s/weights.safetensors", folder);
    UnetMetadata metadata[] = {{"step", "12"}, {"odd \"key\"\n", "a\\b"}};
    UnetError error;
    CHECK_OK(unet_parameters_save(&model, arena, true, NULL, path, metadata, 2, &error), error);
    CHECK(access(path, R_OK) == 0, "no file was written");

    UnetSafetensors *file;
    CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
    if (file == NULL) {
        return;
    }
    CHECK(unet_safetensors_count(file) == 3 * PARAMETERS - 2, "%d tensors", unet_safetensors_count(file));
    const char *odd = unet_safetensors_metadata(file, "odd \"key\"\n");
    CHECK(odd != NULL && strcmp(odd, "a\\b") == 0, "metadata come back");
    CHECK(unet_safetensors_metadata(file, "none") == NULL, "metadata that are not there");
    Heard heard = {""};
    CHECK_OK(unet_parameters_load(&model, file, UNET_LOAD_ALL, loaded, hear, &heard, &error), error);
    CHECK(heard.text[0] == '\0', "nothing to report, but: %s", heard.text);
    CHECK_OK(unet_moments_load(&model, file, 9, loaded, &error), error);
    CHECK(memcmp(arena, loaded, used) == 0, "what is loaded is not what was saved");
    unet_safetensors_close(file);

    UnetModel other = model;
    other.nparameter = PARAMETERS - 1; /* knows fewer tensors, and two with other shapes or names */
    int64_t plain[5] = {1, 5, 3, 3, 3};
    memcpy(parameters[0].dim, plain, sizeof plain);
    parameters[0].rank = 5;
    parameters[2].name = "renamed";
    parameters[4].dim[0] = 5;
    CHECK_FAILS(load(&other, path, UNET_LOAD_ALL, loaded, NULL, &error), error, "renamed: not in the file");
    CHECK_OK(load(&other, path, UNET_LOAD_MATCHING, loaded, &heard, &error), error);
    CHECK(strcmp(heard.text, "renamed: not in the file\n"
                             "2.weight: is 4 x 11 in the file, 5 x 11 here\n"
                             "1.weight: not in the model\n"
                             "5.bias: not in the model\n") == 0,
          "the report is:\n%s", heard.text);
}

/* The error of a tensor that cannot be found tells the tensors that are there, and the line of a map if a
 * prefix stands in front. */
static void test_unlike_names(const char *path, void *loaded) {
    UnetParameter weight = {.name = "weight", .rank = 1, .dim = {1}},
                  other = {.name = "w", .rank = 1, .dim = {1}};
    UnetModel small = {.name = "small", .real = UNET_F32, .nparameter = 1, .parameter = &weight};
    UnetError error;
    CHECK_FAILS(load(&small, path, UNET_LOAD_ALL, loaded, NULL, &error), error,
                ".weight\": --map=FILE with the line `");
    CHECK_FAILS(load(&small, path, UNET_LOAD_MATCHING, loaded, NULL, &error), error, ".* -> *`");
    small.parameter = &other;
    CHECK_FAILS(load(&small, path, UNET_LOAD_ALL, loaded, NULL, &error), error, "tensors, such as \"");
}

/* Names behind the names of modules that wrap the network. */
static void test_wrapped(const char *folder) {
    static char arena[BYTES * 6], loaded[BYTES * 6];
    char wrapped[PARAMETERS][32];
    UnetParameter parameters[PARAMETERS];
    make_parameters(parameters, sizeof(float), false);
    UnetModel model = {.name = "net", .real = UNET_F32, .nparameter = PARAMETERS, .parameter = parameters};
    unet_parameters_init(&model, 3, arena);
    for (int i = 0; i < PARAMETERS; i++) {
        snprintf(wrapped[i], sizeof wrapped[i], "module.%s%s", i == 4 ? "" : "_orig_mod.", names[i]);
        parameters[i].name = wrapped[i];
    }
    char path[100];
    UnetError error;
    Heard heard = {""};
    snprintf(path, sizeof path, "%s/wrapped.safetensors", folder);
    CHECK_OK(unet_parameters_save(&model, arena, false, NULL, path, NULL, 0, &error), error);
    for (int i = 0; i < PARAMETERS; i++) {
        parameters[i].name = names[i];
    }
    CHECK_FAILS(load(&model, path, UNET_LOAD_ALL, loaded, NULL, &error), error,
                "2.weight: not in the file");
    test_unlike_names(path, loaded);
    CHECK_OK(load(&model, path, UNET_LOAD_MATCHING, loaded, &heard, &error), error);
    CHECK(strcmp(heard.text,
                 "module._orig_mod.: stands in front of the names in the file, and is left out\n"
                 "2.weight: not in the file\n"
                 "module.2.weight: not in the model\n") == 0,
          "the report is:\n%s", heard.text);
    size_t count = (size_t)parameters[4].offset - (size_t)parameters[0].offset;
    CHECK(memcmp(arena + parameters[0].offset, loaded + parameters[0].offset, count) == 0,
          "what is loaded is not what was saved");
}

/* The scale of the loss is part of a checkpoint, of nothing else; one that cannot be is refused. */
static void test_loss_scale(const char *folder) {
    enum { AT = 8 }; /* of the scale, behind the only parameter */
    double arena[AT + UNET_LOSS_SCALE_ELEMENTS] = {0}, loaded[AT + UNET_LOSS_SCALE_ELEMENTS] = {0};
    double *scale = arena + AT;
    UnetParameter parameter = {
        .name = "w", .rank = 1, .dim = {4}, .init = UNET_INIT_UNIFORM, .bound = 1, .moments = {-1, -1}};
    UnetModel model = {.name = "net", .real = UNET_F32, .nparameter = 1, .parameter = &parameter};
    UnetModel scaled = model;
    scaled.loss_scale = AT * sizeof *arena;
    char path[100];
    UnetError error;
    snprintf(path, sizeof path, "%s/scaled.safetensors", folder);
    unet_parameters_init(&scaled, 1, arena);
    CHECK(scale[0] == 65536 && scale[1] == 0 && scale[2] == 0, "the scale begins with %g", scale[0]);
    scale[2] = 7;
    CHECK_OK(unet_parameters_save(&scaled, arena, true, NULL, path, NULL, 0, &error), error);
    UnetSafetensors *file;
    CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
    CHECK_OK(unet_moments_load(&scaled, file, 9, loaded, &error), error);
    CHECK(memcmp(scale, loaded + AT, sizeof arena - AT * sizeof *arena) == 0, "another scale comes back");
    CHECK_OK(unet_moments_load(&model, file, 9, loaded, &error), error);
    unet_safetensors_close(file);

    const struct {
        int number;
        double value;
    } wrong[] = {{0, 0}, {0, -1}, {0, NAN}, {0, INFINITY}, {UNET_STEPS_TAKEN, 1e300}};
    for (int i = 0; i < 5; i++) {
        scale[0] = 1;
        scale[wrong[i].number] = wrong[i].value;
        CHECK_OK(unet_parameters_save(&scaled, arena, true, NULL, path, NULL, 0, &error), error);
        CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
        CHECK_FAILS(unet_moments_load(&scaled, file, 9, loaded, &error), error, "is not a valid value");
        unet_safetensors_close(file);
    }
    CHECK_OK(unet_parameters_save(&model, arena, true, NULL, path, NULL, 0, &error), error);
    CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
    CHECK(!unet_has_loss_scale(file), "a model without a scale saves one");
    CHECK_OK(unet_moments_load(&scaled, file, 9, loaded, &error), error);
    CHECK(loaded[AT] == 65536 && loaded[AT + UNET_STEPS_TAKEN] == 9 && loaded[AT + UNET_UNSCALE] == 0,
          "behind 9 steps the scale begins with %g after %g", loaded[AT], loaded[AT + UNET_STEPS_TAKEN]);
    unet_safetensors_close(file);
}

/* Averages begin with the weights, are saved for use, and come back with a checkpoint. */
static void test_averages(const char *folder) {
    enum { AVERAGE = 8 };
    float arena[16] = {0}, loaded[16] = {0}, used[16] = {0};
    UnetParameter parameter = {.name = "w",
                               .rank = 1,
                               .dim = {4},
                               .init = UNET_INIT_UNIFORM,
                               .bound = 1,
                               .moments = {AVERAGE * sizeof *arena, -1, -1, -1}};
    UnetTraining training = {.moments = {"ema"}, .averages = true};
    UnetModel model = {
        .name = "net", .real = UNET_F32, .nparameter = 1, .parameter = &parameter, .training = &training};
    char all[100], weights[100];
    UnetError error;
    UnetSafetensors *file;
    snprintf(all, sizeof all, "%s/averages.checkpoint.safetensors", folder);
    snprintf(weights, sizeof weights, "%s/averages.safetensors", folder);
    unet_parameters_init(&model, 1, arena);
    CHECK(memcmp(arena, arena + AVERAGE, 4 * sizeof *arena) == 0, "averages do not begin with the weights");
    arena[AVERAGE] = 7;
    CHECK_OK(unet_parameters_save(&model, arena, true, NULL, all, NULL, 0, &error), error);
    CHECK_OK(unet_parameters_save(&model, arena, false, NULL, weights, NULL, 0, &error), error);
    CHECK_OK(unet_safetensors_open(&file, all, MOST, &error), error);
    CHECK_OK(unet_parameters_load(&model, file, UNET_LOAD_ALL, loaded, NULL, NULL, &error), error);
    CHECK(loaded[AVERAGE] == arena[0], "loaded weights do not begin an average");
    CHECK_OK(unet_moments_load(&model, file, 9, loaded, &error), error);
    CHECK(memcmp(arena, loaded, sizeof arena) == 0, "a checkpoint loses averages");
    unet_safetensors_close(file);
    CHECK_OK(unet_safetensors_open(&file, weights, MOST, &error), error);
    CHECK_OK(unet_parameters_load(&model, file, UNET_LOAD_ALL, used, NULL, NULL, &error), error);
    CHECK(used[0] == 7 && used[AVERAGE] == 7, "weights for use are not the averages");
    unet_safetensors_close(file);
}

/* A file of one precision goes into a model of the other. */
static void test_conversion(const char *folder) {
    static float single[64];
    static double wide[64];
    UnetParameter parameter = {.name = "w", .rank = 1, .dim = {64}, .init = UNET_INIT_UNIFORM, .bound = 1};
    UnetModel singles = {.name = "net", .real = UNET_F32, .nparameter = 1, .parameter = &parameter};
    UnetModel doubles = {.name = "net", .real = UNET_F64, .nparameter = 1, .parameter = &parameter};
    char path[100];
    UnetError error;
    snprintf(path, sizeof path, "%s/one.safetensors", folder);
    unet_parameters_init(&singles, 1, single);
    CHECK_OK(unet_parameters_save(&singles, single, false, NULL, path, NULL, 0, &error), error);
    CHECK_OK(load(&doubles, path, UNET_LOAD_ALL, (char *)wide, NULL, &error), error);
    for (int i = 0; i < 64; i++) {
        CHECK((double)single[i] == wide[i], "number %d", i);
    }
    CHECK_OK(unet_parameters_save(&doubles, wide, false, NULL, path, NULL, 0, &error), error);
    float again[64];
    CHECK_OK(load(&singles, path, UNET_LOAD_ALL, (char *)again, NULL, &error), error);
    CHECK(memcmp(single, again, sizeof again) == 0, "rounded back");
    CHECK_FAILS(
        unet_parameters_save(&doubles, wide, false, NULL, "/nowhere/w.safetensors", NULL, 0, &error), error,
        "/nowhere/w.safetensors: cannot write: No such file");
}

int main(void) {
    char folder[64];
    make_folder(folder);
    test_initial(0, recorded_weights_0);
    test_initial(42, recorded_weights_42);
    test_initial(7, recorded_weights_7);
    test_files(UNET_F32, folder);
    test_files(UNET_F64, folder);
    test_conversion(folder);
    test_wrapped(folder);
    test_averages(folder);
    test_loss_scale(folder);
    remove_folder(folder);
    return check_result();
}
