/* checkpoint.c - fuzzes what a program takes from files of weights: --resume of a checkpoint, --weights and
 * `pretrained`, of a model with two parameters, moments, a scale of the loss and an input that was
 * measured. */
#include "target.h"

#include "driver.h"
#include "unet/parameters.h"

enum { MOMENTS = 128, SCALE = 256, ARENA = 512 };

static const UnetInput input = {.name = "x", .channels = 1, .normalizing = UNET_NORMALIZED_AS_MEASURED};
static const UnetParameter parameter[] = {
    {.name = "w", .rank = 2, .dim = {2, 3}, .offset = 0, .moments = {MOMENTS, -1, -1, -1}},
    {.name = "b", .rank = 1, .dim = {2}, .offset = 64, .moments = {MOMENTS + 64, -1, -1, -1}}};
static const UnetTraining training = {.moments = {"momentum_buffer"}};
static const UnetModel model = {.name = "fuzz",
                                .source = "fuzz.unet",
                                .source_hash = "0",
                                .target = "cpu",
                                .precision = "f16",
                                .nparameter = 2,
                                .parameter = parameter,
                                .parameter_count = 8,
                                .persistent = ARENA,
                                .loss_scale = SCALE,
                                .ninput = 1,
                                .inputs = &input,
                                .arena_bytes = ARENA,
                                .training = &training};

static void ignore(void *context, const char *name, const char *why) {
    (void)context, (void)name, (void)why;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static _Alignas(64) char arena[ARENA];
    const char *path = as_file(FUZZ_FIRST, data, size);
    UnetNormal normal = {.clips = false};
    RunState state = {.seed = 0};
    UnetSafetensors *file;
    UnetError error;
    Driver driver = {.model = &model, .normal = &normal};
    driver.options.resume_file = path;
    (void)!run_resume(&driver, arena, &state);
    driver.options.weights = path;
    (void)!run_load_weights(&driver, arena);
    if (unet_safetensors_open(&file, path, unet_parameters_header(&model), &error) == UNET_OK) {
        (void)!unet_parameters_load(&model, file, UNET_LOAD_MATCHING, arena, ignore, NULL, &error);
        unet_safetensors_close(file);
    }
    return 0;
}
