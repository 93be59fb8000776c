/* driver.h - what the files of the driver share (main.c is the entry; one file per command).
 *
 * The driver is the only part of the runtime that talks to the user: payload to stdout, everything else to
 * stderr.  Its functions return a status and leave the sentence in Driver.error; main.c prints it.
 */
#ifndef UNET_DRIVER_H
#define UNET_DRIVER_H

#include "options.h"
#include "problems.h"
#include "ranks.h"
#include "unet/atomic_file.h"
#include "unet/device.h"
#include "unet/loader.h"
#include "unet/model.h"
#include "unet/normal.h"
#include "unet/safetensors.h"
#include "unet/schedule.h"
#include "unet/status.h"

typedef struct {
    const UnetModel *model;
    const UnetModel *const *models; /* all NMODELS of the program, the largest plan first */
    int nmodels;
    const char *program; /* as it was called, for hints */
    UnetOptions options;
    int32_t threads;
    UnetNormal *normal; /* one per input of the model, see normal.c */
    Ranks ranks;        /* the processes that train together */
    Problems problems;  /* with files of data */
    int stopped_by;     /* the signal that ended the command after its work was made safe, or 0 */
    UnetError error;
} Driver;

/* ---- the commands, one file each -------------------------------------------------------------- */

UnetStatus driver_train(Driver *driver);
UnetStatus driver_eval(Driver *driver);
UnetStatus driver_predict(Driver *driver);
UnetStatus driver_check_data(Driver *driver);
UnetStatus driver_info(Driver *driver);
UnetStatus driver_bench(Driver *driver);
UnetStatus driver_tune(Driver *driver);
UnetStatus driver_sample(Driver *driver);

/* ---- commands.c: what a program can do; runtime/small has another for small programs -------------- */

/* Runs the command of the command line. */
UNET_MUST_USE UnetStatus driver_run(Driver *driver);

/* Training may be the work of several processes, and so may be its time. */
UNET_MUST_USE UnetStatus driver_join(Driver *driver);
/* A CODE other than 0 ends all of them. */
void driver_leave(Driver *driver, int code);

/* There are MAX threads, fewer than ASKED: tells, with an advice that the compiler takes. */
void driver_note_limit(int64_t asked, int64_t max);

/* ---- machine.c: what the machine gives ------------------------------------------------- */

/* Threads worth starting: the processors this process may use, or its share of them in a container. */
int32_t machine_processors(void);

/* Bytes that can be taken without harming other processes. */
int64_t machine_memory(void);

/* The same without swap and without what the control group has in use. */
int64_t machine_free_memory(void);

/* Seconds of a clock that never jumps. */
double machine_seconds(void);

/* Restarts the program, once, with an OpenMP wait policy that suits a machine shared with loader threads;
 * returns if that is not needed or not possible. */
void machine_set_wait_policy(char **argv);

/* Starts COUNT threads, this one among them, as OpenMP will, and lets them end; UNET_TOO_SMALL where OpenMP
 * would end the program. */
UNET_MUST_USE UnetStatus machine_try_threads(int32_t count, UnetError *error);

/* Allocates BYTES of zeroed memory, aligned to a page.  The caller will allocate BESIDE more bytes:
 * UNET_TOO_SMALL if the machine lacks memory for both.  Untouched pages cost nothing. */
UNET_MUST_USE UnetStatus arena_take(char **arena, int64_t bytes, int64_t beside, UnetError *error);
void arena_give_back(char *arena, int64_t bytes);

/* Reserves BYTES of addresses; few will be touched, and they do not count as memory. */
UNET_MUST_USE UnetStatus mirror_take(char **mirror, int64_t bytes, UnetError *error);

/* ---- plans.c: the plans of `unetc --plans` ------------------------------------------------------ */

/* With --fit: chooses the model of the largest plan for which there is memory, among the plans for the same
 * instructions; else leaves the model as it was. */
void plans_fit(Driver *driver);

/* The plans that were compiled as the model was, the largest first: their number; MODEL gets up to MOST. */
int plans_of(const Driver *driver, const UnetModel **model, int most);

/* ---- peak.c: what the machine can do at most; 0: it could not be measured -------------- */

/* Floating point operations a second, in f32 and with the instructions that a program uses. */
double machine_flops(int64_t instructions, int32_t threads);

/* The same of products of matrices of bf16; 0: the program has none. */
double machine_matrix_flops(int64_t instructions, int32_t threads);

/* Bytes a second, read and written, in memory that no cache holds. */
double machine_bandwidth(int32_t threads);

/* ---- device.c: the arena and where its programs run ------------------------------------ */

typedef struct {
    const UnetModel *model;
    char *arena; /* memory of this machine: the arena, or a mirror of the one on the device */
    int64_t extent;
    void *state;                 /* of model->device */
    const UnetProgram *prepared; /* whose `prepare` holds: no weights were pushed since, nothing else ran */
} Device;

/* Allocates EXTENT bytes where the model runs; the caller will allocate BESIDE more bytes on the host.
 * ENGINES are for the model's device.  The caller closes DEVICE, even after a failure. */
UNET_MUST_USE UnetStatus device_open(Device *device, const UnetModel *model, int64_t extent, int64_t beside,
                                     const UnetEngineFile *engines, UnetError *error);
void device_close(Device *device);

/* Once all else has its memory: whether the threads that compute can be started, if it is they that do. */
UNET_MUST_USE UnetStatus device_try_threads(const Device *device, int32_t threads, UnetError *error);

/* Copy the weights to the device after the host changed them, and back before the host reads them. */
UNET_MUST_USE UnetStatus device_push_weights(Device *device, UnetError *error);
UNET_MUST_USE UnetStatus device_fetch_weights(Device *device, UnetError *error);
/* Copies BYTES at OFFSET of the arena from the device before the host reads them. */
UNET_MUST_USE UnetStatus device_fetch(Device *device, int64_t offset, int64_t bytes, UnetError *error);

/* A hint: inputs will be copied from this memory. */
void device_pin(Device *device, void *memory, size_t bytes);

/* How many slots of the ring of a loader there is memory for, beside an arena of EXTENT bytes; at least
 * one. *BESIDE: bytes of the loader. */
int32_t loader_slots(const UnetModel *model, const UnetDataset *const *datasets, int32_t ndataset,
                     int32_t threads, int64_t extent, int64_t *beside);

/* The same for the memory of LOADER, which must outlive DEVICE. */
void device_reads_from(Device *device, const UnetLoader *loader);

/* Runs the part of PROGRAM that runs once weights are set, before inputs are stored in the arena
 * (UnetProgram.input_offsets); a step does it if nobody has. */
void device_prepare(Device *device, const UnetProgram *program, const UnetStep *step);

/* Begins a step of PROGRAM; STEP->arena is the device's.  Its losses and metrics can be read once it has
 * ended.  Steps end in the order in which they were begun; at most device_steps_ahead are begun and have
 * not ended. */
int device_steps_ahead(const Device *device);
UNET_MUST_USE UnetStatus device_begin(Device *device, const UnetProgram *program, const UnetStep *step,
                                      UnetError *error);
UNET_MUST_USE UnetStatus device_end(Device *device, UnetError *error);

/* The loader's next batch; takes back the one before, which the device has by then. */
UNET_MUST_USE UnetStatus device_next_batch(Device *device, UnetLoader *loader, UnetBatch *batch,
                                           UnetError *error);

/* One step, begun and ended. */
UNET_MUST_USE UnetStatus device_run(Device *device, const UnetProgram *program, const UnetStep *step,
                                    UnetError *error);

/* The same on a model's device, timed by it as UnetDevice.timed_run says. */
UNET_MUST_USE UnetStatus device_timed_run(Device *device, const UnetProgram *program, const UnetStep *step,
                                          bool parts, const UnetDeviceTime **time, int32_t *count,
                                          UnetError *error);

/* Which engines of its libraries the model's device computes with, in a few letters; "" where it has none.
 */
enum { ENGINES_BYTES = 64 };
void device_engines(const Device *device, char text[ENGINES_BYTES]);

/* tune.c: device_open with the engines that lie beside the weights, or that --engines names; where --tune
 * asks for that and there are none for this device and program, they are measured first. */
UNET_MUST_USE UnetStatus driver_open_device(Driver *driver, Device *device, int64_t extent, int64_t beside);

/* connect.c: how the gradients of several processes go from one GPU to another.  All call it. */
UNET_MUST_USE UnetStatus driver_connect_devices(Driver *driver, Device *device);

/* eval.c: `--data`, or the working directory. */
const char *data_folder(const Driver *driver);

/* The place of the data: FOLDER, or `--data` if FOLDER is NULL, and the folder for decoded volumes. */
UnetDataPlace data_place(Driver *driver, const char *folder);
/* Whether data has folds, where --fold names one. */
UNET_MUST_USE UnetStatus check_fold(Driver *driver);

/* eval.c: whether there is data to evaluate on, and that data: `--eval-data`, all of it, or what the model
 * says. */
bool evaluation_exists(const Driver *driver);
UNET_MUST_USE UnetStatus evaluation_open(Driver *driver, UnetDataset **dataset);
/* The same for MODEL, the driver's but for the size of its evaluation; OWN_SIZE: not resized. */
UNET_MUST_USE UnetStatus evaluation_open_as(Driver *driver, const UnetModel *model, bool own_size,
                                            UnetDataset **dataset);

/* A number of bytes as people read it: "1.25 GiB". */
void format_bytes(char *text, size_t size, int64_t bytes);
/* info.c: 482067 as "482,067" */
void format_count(char *text, size_t size, int64_t count);

/* ---- signals.c: stopping in good order -------------------------------------------------- */

/* From here on SIGINT and SIGTERM wait until the caller looks; threads started later inherit that. */
void signals_hold(void);

/* The signal that came since, or 0.  After the first a second one ends the program at once. */
int signals_look(void);

/* ---- tally.c: means over samples ------------------------------------------------------- */

/* Sums over the samples seen: one number per result of the model, and for a PSNR that has one, the same
 * measure of the input it improves on (the identity). */
typedef struct {
    const UnetModel *model;
    int64_t samples, identity_samples;
    double *sum, *identity_sum;
    double **pairs; /* per metric of classes: how often each true class met each predicted one; else NULL */
    float *row;     /* two rows of a batch, to measure identities with */
} Tally;

UNET_MUST_USE UnetStatus tally_create(Tally *tally, const UnetModel *model, UnetError *error);
void tally_destroy(Tally *tally);
void tally_clear(Tally *tally); /* the samples; identities stay */

/* Adds the results that a step of PROGRAM left in the arena. */
void tally_add(Tally *tally, const UnetProgram *program, const char *arena, int32_t n);

/* Adds the identities of a batch, if the model has any; no step needs to have run. */
void tally_add_identity(Tally *tally, const UnetProgram *program, const UnetBatch *batch);

/* Is RESULT a metric that PROGRAM can measure of an input alone? */
bool tally_has_identity(const UnetProgram *program, const UnetResult *result);
/* The identity of result I for sample N of a batch; NaN: it has none. */
double tally_sample_identity(const Tally *tally, const UnetProgram *program, const UnetBatch *batch, int i,
                             int32_t n);
/* Adds the values of N samples; result i of sample k has VALUE[i * APART + k]. */
void tally_take_identity(Tally *tally, const double *value, int32_t apart, int32_t n);
/* A part of the data says nothing about all of it. */
void tally_forget_identity(Tally *tally);

/* The sums as numbers of a file, tally_numbers of them, and back; false: these cannot be sums. */
int64_t tally_numbers(const UnetModel *model);
void tally_store(const Tally *tally, const UnetProgram *program, double *to);
bool tally_restore(Tally *tally, const UnetProgram *program, const double *from);

/* Mean of result I, of its identity, and of the weighted sum of losses; NaN: not measured. */
double tally_value(const Tally *tally, int i);
double tally_identity(const Tally *tally, int i);
double tally_loss(const Tally *tally);

/* The first metric of the model, or -1: it decides which weights are best. */
int tally_first_metric(const UnetModel *model);

/* The loss and the metrics as one line: "loss 0.00131, psnr(...) 28.83 dB (noisy 20.35 dB, gain 8.48 dB)".
 */
void tally_format(const Tally *tally, char *text, size_t size);

/* Is told what each batch of an evaluation measured by itself: its samples from FIRST on. */
typedef struct TallyListener {
    void (*hear)(struct TallyListener *listener, const Tally *of_batch, int64_t first);
    bool alone;                    /* each sample is a batch */
    Tally tally[UNET_STEPS_AHEAD]; /* of one batch each */
} TallyListener;

/* Its tallies; to be destroyed even after a failure. */
UNET_MUST_USE UnetStatus tally_listener_create(TallyListener *listener, const UnetModel *model,
                                               UnetError *error);
void tally_listener_destroy(TallyListener *listener);

/* Runs the evaluation program over all of DATASET; LISTENER may be NULL.  Stops early, with *SIGNAL set,
 * when a signal is waiting. */
UNET_MUST_USE UnetStatus tally_evaluate(Tally *tally, UnetLoader *loader, const UnetDataset *dataset,
                                        Device *device, int32_t threads, TallyListener *listener,
                                        int *signal, UnetError *error);

/* ---- loss_scale.c: the loss scale, where gradients are f16 ------------------------------------- */

typedef struct {
    double scale;       /* 0: this program scales no loss */
    int64_t skipped;    /* steps of the run, whose gradients overflowed */
    int64_t taken;      /* steps of the run that were not */
    int64_t last_taken; /* step at which the last look saw one more of these */
    int64_t in_a_row;   /* at least so many of the last steps were skipped */
} LossScale;

/* From the state in ARENA, which is memory of the host, after STEP steps of the run. */
LossScale scale_start(const UnetModel *model, const char *arena, int64_t step);

/* Reads the state again after STEP steps; on a device it waits for the steps that were begun. */
UNET_MUST_USE UnetStatus scale_look(LossScale *scale, Device *device, int64_t step, UnetError *error);

/* Whether every scale overflows: f16 cannot represent this training. */
bool scale_has_collapsed(const LossScale *scale);

/* ---- normal.c: what inputs are normalised by --------------------------------------------------- */

/* Driver.normal becomes what the model's file says. */
UNET_MUST_USE UnetStatus normal_start(Driver *driver);
void normal_end(Driver *driver);

/* Whether inputs are normalised by what was measured. */
bool normal_is_measured(const UnetModel *model);

/* Measures it on DATA, and says what came out. */
UNET_MUST_USE UnetStatus normal_measure(Driver *driver, const UnetDataset *data);

/* Takes it from a file of weights or a checkpoint, which must have it. */
UNET_MUST_USE UnetStatus normal_read(Driver *driver, const UnetSafetensors *file);

/* ---- run_folder.c: the folder of a run --------------------------------------------------- */

typedef struct {
    int lock;            /* its file, as long as this process trains there; -1: none */
    bool is_new;         /* not the run that the folder holds */
    bool begun;          /* which has written its first files */
    int64_t *left;       /* steps of its numbered checkpoints; the start found NLEFT, the oldest first */
    int32_t nleft, gone; /* GONE: how many of these are gone by now */
    int64_t made;        /* how many were added, */
    int64_t newest;      /* the last of them */
    char lock_path[UNET_PATH_BYTES];
} RunFolder;

/* `--out`, or the working directory. */
const char *run_folder(const Driver *driver);

/* Makes PATH and the folders above it, as far as they are not there. */
UNET_MUST_USE UnetStatus run_folder_make(const char *path, UnetError *error);

/* Whether a checkpoint lies in FOLDER, of a program of any name, and which file. */
bool run_folder_other(const char *folder, char name[UNET_PATH_BYTES]);

/* Makes the folder and locks it, with RUN->lock -1 before; UNET_USAGE if it holds another run that nobody
 * asked to overwrite.  The caller leaves it, even after a failure. */
UNET_MUST_USE UnetStatus run_folder_take(RunFolder *run, Driver *driver);
void run_folder_leave(RunFolder *run);

/* A new run failed before its first step: its files go, so that the next one may begin here. */
void run_folder_forget(const RunFolder *run, const Driver *driver);

/* Removes files that were never finished and, of the numbered checkpoints up to step LAST, all but the
 * newest KEEP; of another run all of these, and its checkpoint and best weights are set aside. */
UNET_MUST_USE UnetStatus run_folder_clear(RunFolder *run, Driver *driver, int64_t last, int32_t keep);

/* The numbered checkpoint of STEP was added, or written again: so many of the checkpoints that were there
 * at the start go that KEEP stay. */
void run_folder_added(RunFolder *run, const Driver *driver, int64_t step, int32_t keep);

/* ---- run_data.c: the data that a run was trained on --------------------------------------- */

/* Writes the path of the folder of data to the folder of the run. */
UNET_MUST_USE UnetStatus run_data_note(const Driver *driver, UnetError *error);

/* Whether the run whose weights are evaluated was trained on another folder of data, and which. */
bool run_data_elsewhere(const Driver *driver, char trained[UNET_PATH_BYTES]);

/* ---- checkpoint.c: the files of a run -------------------------------------------------- */

/* With the weights and the optimiser's moments, the whole state of a run: it continues from them bit for
 * bit, since the order of samples and all noise follow from the seed and the step. */
typedef struct {
    int64_t seed;
    int64_t step;      /* updates done; the next batch of the stream has this number too */
    int64_t samples;   /* of the data set, to notice another one; -1: unet_embed_checkpoint knew none */
    int64_t fold;      /* that is held out, or 0 */
    int64_t batch;     /* that --batch asked for; 0: the program's */
    int64_t evaluated; /* step of the last evaluation; -1: none */
    double best;       /* value of the best evaluation; NaN: none */
    int64_t best_step;
    int64_t stale;               /* evaluations since the best one */
    UnetPlateau plateau;         /* of the schedule */
    int64_t log_rows;            /* that the log had; -1: an older checkpoint, which does not say */
    double *unlogged;            /* sums since its last row, */
    int64_t nunlogged;           /*   so many; */
    bool has_unlogged;           /*   the checkpoint had them */
    char engines[ENGINES_BYTES]; /* device_engines of this process */
} RunState;

/* PATH becomes FOLDER/NAME.SUFFIXsafetensors; SUFFIX is "", "best.", "checkpoint.", ... */
UNET_MUST_USE UnetStatus run_path(const Driver *driver, const char *suffix, char path[UNET_PATH_BYTES],
                                  UnetError *error);

UNET_MUST_USE UnetStatus run_save_weights(Driver *driver, const char *arena, const RunState *state,
                                          const char *suffix);
UNET_MUST_USE UnetStatus run_save_checkpoint(Driver *driver, const char *arena, const RunState *state);

/* Gives the checkpoint just saved a second name with its step, and takes the one of step FORGET away (0:
 * none). */
UNET_MUST_USE UnetStatus run_keep_checkpoint(Driver *driver, const char *arena, const RunState *state,
                                             int64_t forget);

/* Takes away the numbered checkpoint of STEP; false: it cannot be. */
bool run_forget_checkpoint(const Driver *driver, int64_t step);

UNET_MUST_USE UnetStatus run_resume(Driver *driver, char *arena, RunState *state);

/* Loads what `pretrained` or --weights of train names into weights already drawn, and reports what it left.
 */
UNET_MUST_USE UnetStatus run_load_pretrained(Driver *driver, const char *path, const char *map,
                                             char *arena);

/* Loads the weights that eval and predict use, says which, and fails when there are none. */
UNET_MUST_USE UnetStatus run_load_weights(Driver *driver, char *arena);
/* The file that they come from. */
UNET_MUST_USE UnetStatus run_weights_path(Driver *driver, char path[UNET_PATH_BYTES]);

#endif
