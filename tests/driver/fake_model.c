/* fake_model.c - a model as the compiler would emit it, small enough to check by hand, to test the driver.
 *
 * denoised = w * noisy + b, mean squared error, SGD with momentum; images of 16 x 16, batch 4.  Variables
 * of the environment make it misbehave: FAKE_RATE is its learning rate, FAKE_SLEEP the milliseconds that a
 * step or a prediction takes, FAKE_ARENA the bytes of arena it asks for, FAKE_HASH the hash of its text,
 * FAKE_SCHEDULE plateau or cosine, FAKE_PATIENCE how many evaluations without a better one end training,
 * FAKE_OVERFLOWS how many of its first steps overflow, as steps of a program in f16 do; with
 * FAKE_INSTRUCTIONS it is for a processor that has all there ever were.  The plan of training has a loop, a
 * step in it, which begins for each half of the batch, and the optimiser's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unet/model.h"

enum { SIDE = 16, POINTS = SIDE * SIDE, BATCH = 4 };

/* The arena: parameters, momentum, results, then the output of prediction. */
enum {
    W = 0,
    B = 64,
    MOMENTUM_W = 128,
    MOMENTUM_B = 192,
    SCALE = 224,
    PERSISTENT = 256,
    LOSS = 256,
    PSNR = 264,
    OUTPUT = 320
};
enum { EXTENT = 320, PREDICT_EXTENT = OUTPUT + POINTS * (int)sizeof(float) };

static float *at(const UnetStep *step, int offset) {
    return (float *)(void *)(step->arena + offset);
}

static void put_result(const UnetStep *step, int offset, double value) {
    memcpy(step->arena + offset, &value, sizeof value);
}

static void forward(const UnetStep *step, const float *x, float *y) {
    for (int i = 0; i < POINTS; i++)
        y[i] = at(step, W)[0] * x[i] + at(step, B)[0];
}

static double clamped(double value) {
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Losses and metrics of the batch; adds the gradient by w and b to GRADIENT. */
static void measure(const UnetStep *step, double gradient[2]) {
    const float *x = step->inputs[0], *t = step->inputs[1];
    double loss = 0, psnr = 0;
    float y[POINTS];
    for (int n = 0; n < step->n; n++, x += POINTS, t += POINTS) {
        double squared = 0, squared_clamped = 0;
        forward(step, x, y);
        for (int i = 0; i < POINTS; i++) {
            double difference = (double)y[i] - (double)t[i];
            double clamped_difference = clamped((double)y[i]) - clamped((double)t[i]);
            squared += difference * difference;
            squared_clamped += clamped_difference * clamped_difference;
            gradient[0] += 2 * difference * (double)x[i] / (POINTS * step->n);
            gradient[1] += 2 * difference / (POINTS * step->n);
        }
        loss += squared / POINTS;
        psnr += fmin(100, -10 * log10(squared_clamped / POINTS));
    }
    put_result(step, LOSS, loss);
    put_result(step, PSNR, psnr);
}

/* Whether this step is skipped, and what becomes of the scale of the loss. */
static bool overflows(const UnetStep *step, const char *steps) {
    double *scale = (double *)(void *)(step->arena + SCALE);
    bool overflow = step->step <= strtoll(steps, NULL, 10);
    scale[UNET_LOSS_SCALE] = fmax(overflow ? scale[UNET_LOSS_SCALE] / 2 : scale[UNET_LOSS_SCALE], 0x1p-100);
    scale[UNET_STEPS_TAKEN] += !overflow;
    return overflow;
}

static void update(const UnetStep *step, int value, int momentum, double gradient) {
    at(step, momentum)[0] = 0.9f * at(step, momentum)[0] + (float)gradient;
    at(step, value)[0] -= (float)step->learning_rate * at(step, momentum)[0];
}

/* Info tells each method once, and of each the operators. */
static const UnetMethod methods[] = {{"conv", "Winograd", (const char *const[]){"enc", "dec", NULL}},
                                     {"conv", "direct: few", (const char *const[]){"out", NULL}},
                                     {"conv_wgrad", "Winograd", (const char *const[]){"enc", NULL}}};

static const UnetPlanStep measuring = {1,  "mse of scale",    "direct: few",
                                       11, 5 * POINTS *BATCH, 8 * POINTS *BATCH};
static const UnetPlanStep updating = {2, "sgd", NULL, 0, 10, 32};

static void begin(const UnetStep *step, const UnetPlanStep *what) {
    if (step->watch != NULL)
        step->watch->begins(step->watch, what);
}

static void wait_a_while(void) {
    const char *milliseconds = getenv("FAKE_SLEEP");
    if (milliseconds != NULL) {
        long ms = strtol(milliseconds, NULL, 10);
        struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
        (void)nanosleep(&pause, NULL);
    }
}

static void run_train(const UnetStep *step) {
    double gradient[2] = {0, 0};
    begin(step, &measuring);
    begin(step, &measuring);
    wait_a_while();
    measure(step, gradient);
    const char *overflowing = getenv("FAKE_OVERFLOWS");
    if (overflowing != NULL && overflows(step, overflowing))
        return;
    begin(step, &updating);
    update(step, W, MOMENTUM_W, gradient[0]);
    update(step, B, MOMENTUM_B, gradient[1]);
}

static void run_eval(const UnetStep *step) {
    double gradient[2] = {0, 0};
    measure(step, gradient);
}

static void run_predict(const UnetStep *step) {
    wait_a_while();
    forward(step, step->inputs[0], at(step, OUTPUT));
}

#define IMAGE                                                                                              \
    {                                                                                                      \
        .type = UNET_F32, .channels = 1, .size = {1, SIDE, SIDE}, .block = 1, .sample = POINTS,            \
        .plane = POINTS, .depth = POINTS, .row = SIDE, .sample_bytes = POINTS * sizeof(float)              \
    }
static const UnetLayout pair[] = {IMAGE, IMAGE};
static const UnetLayout input_alone[] = {IMAGE, {.sample_bytes = 0}};
static const int64_t results[] = {LOSS, PSNR};
static const int64_t output_offsets[] = {OUTPUT};

#define MEASURING(does, function, positions)                                                               \
    {                                                                                                      \
        .name = does, .run = function, .batch = BATCH, .steps = positions, .size = {1, SIDE, SIDE},        \
        .measured = {1, SIDE, SIDE}, .extent = EXTENT, .inputs = pair, .result_offsets = results,          \
        .input_bytes = 2 * BATCH * POINTS * sizeof(float)                                                  \
    }
static const UnetProgram train = MEASURING("train", run_train, 3);
static const UnetProgram eval = MEASURING("eval", run_eval, 0);
static const UnetProgram predict = {.name = "predict",
                                    .run = run_predict,
                                    .batch = 1,
                                    .size = {1, SIDE, SIDE},
                                    .extent = PREDICT_EXTENT,
                                    .inputs = input_alone,
                                    .outputs = pair,
                                    .output_offsets = output_offsets,
                                    .input_bytes = POINTS * sizeof(float)};

static const UnetParameter parameters[] = {
    {"scale.weight", 4, {1, 1, 1, 1}, UNET_INIT_UNIFORM, 1, W, {MOMENTUM_W}},
    {"scale.bias", 1, {1}, UNET_INIT_UNIFORM, 1, B, {MOMENTUM_B}},
};
static const UnetInput inputs[] = {{"noisy",
                                    UNET_IMAGE,
                                    false,
                                    1,
                                    0,
                                    -1,
                                    UNET_AS_READ,
                                    {.clips = false},
                                    {.missing = UNET_MISSING_REFUSED}},
                                   {"clean",
                                    UNET_IMAGE,
                                    true,
                                    1,
                                    0,
                                    -1,
                                    UNET_AS_READ,
                                    {.clips = false},
                                    {.missing = UNET_MISSING_REFUSED}}};
static const UnetOutput outputs[] = {{"denoised", UNET_IMAGE, 0}};
static const UnetResult measures[] = {
    {"mse(denoised, clean)", "mse", UNET_LOSS, 1, false, -1, 1, 0, 0, -1, -1},
    {"psnr(denoised, clean)", "psnr", UNET_METRIC, 1, true, 0, 1, 0, 0, -1, -1},
};
static const UnetSourceTerm noisy_files[] = {{.op = UNET_SRC_FILES, .pattern = "noisy/*.png", .line = 11}};
static const UnetSourceTerm clean_files[] = {{.op = UNET_SRC_FILES, .pattern = "clean/*.png", .line = 12}};
static const UnetSource sources[] = {{"noisy", 0, 1, 1, noisy_files, NULL, false, false, false, 0},
                                     {"clean", 1, 1, 1, clean_files, NULL, false, false, false, 0}};
static const UnetTransform crop[] = {{.op = UNET_DO_CROP, .random = true}};
static const UnetData data = {.source = sources,
                              .nsource = 2,
                              .transform = crop,
                              .ntransform = 1,
                              .holdout = 0.25,
                              .shuffle = true,
                              .threads = 2};
static const UnetData holdout = {.threads = 2};

int main(int argc, char **argv) {
    const char *rate = getenv("FAKE_RATE"), *arena = getenv("FAKE_ARENA"), *hash = getenv("FAKE_HASH"),
               *lacking = getenv("FAKE_INSTRUCTIONS");
    static const UnetSchedule plateau = {.kind = UNET_SCHEDULE_PLATEAU, .factor = 0.5},
                              cosine = {.kind = UNET_SCHEDULE_COSINE, .per = UNET_STEPS};
    const char *schedule = getenv("FAKE_SCHEDULE"), *patience = getenv("FAKE_PATIENCE");
    const UnetTraining training = {.schedule = schedule == NULL     ? NULL
                                               : schedule[0] == 'p' ? &plateau
                                                                    : &cosine,
                                   .patience = patience != NULL ? strtoll(patience, NULL, 10) : 0,
                                   .moments = {"momentum_buffer"},
                                   .learning_rate = rate != NULL ? strtod(rate, NULL) : 0.05,
                                   .duration = 4,
                                   .duration_unit = UNET_EPOCHS,
                                   .save_every = 1,
                                   .save_unit = UNET_EPOCHS,
                                   .save_keep = 2,
                                   .eval_every = 1,
                                   .eval_unit = UNET_EPOCHS,
                                   .description = "sgd(lr = 0.05, momentum = 0.9)"};
    const UnetModel model = {.runtime_version = UNET_RUNTIME_VERSION,
                             .table_bytes = UNET_TABLE_BYTES + (getenv("FAKE_TABLES") != NULL ? 8 : 0),
                             .name = "fake",
                             .source = "fake.unet",
                             .source_hash = hash != NULL ? hash : "0123456789abcdef",
                             .target = "cpu",
                             .isa = "native",
                             .instructions = lacking != NULL ? INT64_MAX : UNET_INSTRUCTIONS_USED,
                             .real = UNET_F32,
                             .precision = getenv("FAKE_OVERFLOWS") != NULL ? "f16" : "f32",
                             .max_threads = 2,
                             .nmethod = 3,
                             .method = methods,
                             .nparameter = 2,
                             .parameter = parameters,
                             .parameter_count = 2,
                             .persistent = PERSISTENT,
                             .loss_scale = getenv("FAKE_OVERFLOWS") != NULL ? SCALE : 0,
                             .ninput = 2,
                             .inputs = inputs,
                             .noutput = 1,
                             .outputs = outputs,
                             .nresult = 2,
                             .results = measures,
                             .train = &train,
                             .eval = &eval,
                             .predict = &predict,
                             .arena_bytes = arena != NULL ? strtoll(arena, NULL, 10) : PREDICT_EXTENT,
                             .ring = 3,
                             .loader_ring_bytes = 3 * 2 * BATCH * POINTS * sizeof(float),
                             .predict_pad = UNET_PAD_REFLECT,
                             .data = &data,
                             .eval_data = &holdout,
                             .training = &training};
    const UnetModel *const models[] = {&model};
    return unet_main(models, 1, argc, argv);
}
