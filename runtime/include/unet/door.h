/* door.h - a model as a shared library, which `unetc --shared` makes: for programs that load it while they
 * run and know neither its name nor its sizes before, such as those in Python.
 *
 * The library has one symbol, unet_door().  Everything that the table there gives is constant; what changes
 * lies in a buffer of the caller's, as unet/embed.h describes.  A function fails as it does there: with a
 * status and a sentence in UnetError; none prints or exits.
 *
 * The layout of all structs here is fixed: a caller may describe them in a language of its own, and looks
 * at UnetDoor.version and UnetDoor.bytes first.
 */
#ifndef UNET_DOOR_H
#define UNET_DOOR_H

#include "unet/embed.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { UNET_DOOR_VERSION = 1 };

/* A tensor, as a caller hands it over: dense, one sample behind the other.  DIM has no axis of samples. */
typedef struct {
    const char *name;
    int32_t type;   /* UNET_F32, UNET_U8 (labels), or, of parameters alone, UNET_F64 */
    int32_t rank;   /* -1: the program does not read this input */
    int64_t dim[5]; /* channels, depth, height, width, as far as there are these; labels have no channels,
                       and a number for each sample has no axis */
    int32_t is_target; /* of inputs */
    int32_t classes;   /* of labels; 0: it has numbers */
} UnetDoorTensor;

/* The lists of tensors: parameters of the state dict; inputs of the programs; outputs of prediction. */
enum { UNET_DOOR_PARAMETERS, UNET_DOOR_TRAIN, UNET_DOOR_EVAL, UNET_DOOR_PREDICT, UNET_DOOR_OUTPUTS };

/* A loss or a metric. */
typedef struct {
    const char *name, *metric; /* "psnr(denoised, clean)", "psnr" */
    int32_t is_loss, higher_is_better;
    double weight; /* of a loss in the sum that is minimised */
} UnetDoorResult;

typedef struct {
    const char *name, *source, *source_hash, *target, *isa, *precision, *optimizer;
    int64_t buffer_bytes, arena_bytes, persistent_bytes, ring_bytes;
    int64_t parameter_count; /* elements of all parameters */
    int64_t sums;            /* unet_embed_sums() */
    int64_t seed;            /* of training, as the file or --seed says */
    double learning_rate;
    int32_t parameters, inputs, outputs, results; /* the lengths of the lists */
    int32_t batch, eval_batch, predict_batch;     /* 0: there is no such program */
    int32_t max_threads;
} UnetDoorFacts;

typedef struct UnetDoor {
    int32_t version, bytes; /* UNET_DOOR_VERSION, sizeof(UnetDoor) */
    const UnetModel *const *models;
    int64_t nmodels; /* one, or one for each level of processors, best first */
    /* The facts of the model; `tensor` and `result` return 0 where the list is shorter. */
    void (*facts)(const struct UnetDoor *door, UnetDoorFacts *facts);
    int32_t (*tensor)(const struct UnetDoor *door, int32_t list, int32_t i, UnetDoorTensor *tensor);
    int32_t (*result)(const struct UnetDoor *door, int32_t i, UnetDoorResult *result);
    /* The rate of STEP, from 1, of a run of so many STEPS, if it begins with RATE: the file's schedule.  A
     * plateau that evaluations met is left out. */
    double (*rate)(const struct UnetDoor *door, double rate, int64_t step, int64_t steps,
                   int64_t steps_per_epoch);
    /* The functions of unet/embed.h. */
    UnetStatus (*init)(const UnetModel *const *models, int32_t nmodels, void *buffer, size_t bytes,
                       int32_t threads, uint64_t seed, UnetError *error);
    void (*close)(void *buffer);
    UnetStatus (*load)(void *buffer, const char *path, UnetError *error);
    UnetStatus (*save)(void *buffer, const char *path, UnetError *error);
    UnetStatus (*checkpoint)(void *buffer, const char *path, UnetError *error);
    UnetStatus (*resume)(void *buffer, const char *path, UnetError *error);
    int64_t (*steps)(const void *buffer);
    UnetStatus (*get)(void *buffer, void *const *values, UnetError *error);
    UnetStatus (*set)(void *buffer, const void *const *values, UnetError *error);
    UnetStatus (*forward)(void *buffer, const void *const *inputs, void *const *outputs, UnetError *error);
    UnetStatus (*train_step)(void *buffer, int32_t n, const void *const *inputs, double learning_rate,
                             double *loss, UnetError *error);
    UnetStatus (*evaluate)(void *buffer, int32_t n, const void *const *inputs, int64_t before, double *sums,
                           UnetError *error);
    double (*value)(const UnetModel *model, int32_t i, const double *sums, int64_t samples);
} UnetDoor;

/* Generated code fills its door with these. */
void unet_door_facts(const UnetDoor *door, UnetDoorFacts *facts);
int32_t unet_door_tensor(const UnetDoor *door, int32_t list, int32_t i, UnetDoorTensor *tensor);
int32_t unet_door_result(const UnetDoor *door, int32_t i, UnetDoorResult *result);
double unet_door_rate(const UnetDoor *door, double rate, int64_t step, int64_t steps,
                      int64_t steps_per_epoch);

#define UNET_DOOR(models)                                                                                  \
    {                                                                                                      \
        UNET_DOOR_VERSION, sizeof(UnetDoor), models, sizeof(models) / sizeof *(models), unet_door_facts,   \
            unet_door_tensor, unet_door_result, unet_door_rate, unet_embed_init, unet_embed_close,         \
            unet_embed_load, unet_embed_save, unet_embed_checkpoint, unet_embed_resume, unet_embed_steps,  \
            unet_embed_get, unet_embed_set, unet_embed_forward, unet_embed_train_step,                     \
            unet_embed_evaluate, unet_embed_value                                                          \
    }

/* The one symbol of the library. */
UNET_EXTERN __attribute__((visibility("default"))) const UnetDoor *unet_door(void);

#ifdef __cplusplus
}
#endif

#endif
