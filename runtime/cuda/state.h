/* state.h - a device with a program on it, as device.c makes it ready and step.c runs it. */
#ifndef UNET_CUDA_STATE_H
#define UNET_CUDA_STATE_H

#include <cudnn_graph.h>

#include "convolution.h"
#include "marks.h"
#include "connection.h"
#include "unet/atomic_file.h"
#include "unet/cuda_device.h"

/* Filled in where a program is linked with it (runtime/nccl). */
extern const UnetNccl unet_nccl_transport __attribute__((weak));

enum { PROGRAMS = 3 };
typedef enum { NOT_TIMED, WHOLE_STEP, PARTS } Timing;

/* A piece of a step: launched one by one at first, which loads its kernels, then captured. */
typedef struct {
    cudaGraphExec_t executable;
    bool warm;
} PieceGraph;

/* Between two events a stream exchanges numbers with other processes, or waits for that. */
typedef struct {
    cudaEvent_t begun, over;
    bool waits; /* nothing else of the step runs meanwhile */
    bool sends; /* else it waits for what another stream sends */
} UnetExchangeTime;

/* A step that was begun: its control block, its results. */
typedef struct {
    const UnetCudaProgram *tables;
    UnetControl *control; /* pinned, with the sizes of samples behind it */
    double *result;       /* pinned */
    cudaEvent_t through;
    UnetTeam *team;             /* or NULL */
    UnetExchangeTime *exchange; /* where devices are connected, */
    int32_t exchanges;          /*   so many in this step */
} StepSlot;

/* The numbers that go to other processes and come from them. */
typedef struct {
    UnetConnection connection;   /* of devices, */
    void *group;                 /*   by NCCL; NULL: there is none, it goes through the host */
    UnetNumbers *send, *receive; /* one for each process */
    int32_t with_work;           /* processes that have samples in the step: the first so many */
    cudaStream_t stream;         /* of buckets; NULL: none is sent while a step goes on */
    cudaEvent_t complete;        /* a bucket is */
    int32_t begun;               /* buckets that are on their way */
    int32_t most; /* exchanges of a step: of statistics, of buckets, of their sum, of weights */
    bool unmet;   /* whether all have come to the steps that were begun is not known */
    char *pinned; /* through the host: numbers, and room for the numbers of others, */
    size_t pinned_bytes;
} UnetExchange;

struct UnetCuda {
    const UnetModel *model;
    const UnetCudaModel *tables;
    char *arena;
    int64_t extent;
    cudaStream_t stream, copies; /* copies: of inputs that come while a step runs */
    cudaStream_t second;         /* of branches; NULL: the program has none */
    cudaEvent_t forked, joined;
    cudaEvent_t inputs_taken; /* by the last iteration that was begun */
    cudaEvent_t inputs_free;  /* the next ones may come */
    cudnnHandle_t cudnn[UNET_STREAMS];
    UnetCudnnTarget target[UNET_STREAMS];
    UnetCudnnPlan *plan[UNET_STREAMS];     /* one per convolution that runs in that stream */
    UnetEngineTable table;                 /* of a file */
    const UnetTimedEngine **match;         /* its row for each convolution; NULL: engines as compiled */
    char not_used[sizeof(UnetError) + 64]; /* why a file is not used, or "" */
    char *pinned;                          /* host memory for copies: what the slots and `start` point to */
    int32_t *start[PROGRAMS];              /* per iteration: its first sample */
    StepSlot slot[UNET_STEPS_AHEAD];
    int64_t begun, ended;        /* steps */
    bool lost;                   /* its streams never end */
    const UnetProgram *prepared; /* its pieces that run once did, and nothing was pushed or ran since */
    PieceGraph *graph[PROGRAMS]; /* unet_cuda_graphs() of each piece */
    void *registered;            /* memory of the caller that copies may read directly */
    UnetTeam *team;              /* of the step that is begun, or NULL */
    UnetExchange exchange;
    Timing timing; /* of the step that runs */
    UnetCudaMarks marks;
    bool captures;
    bool in_turns;     /* branches run one after the other, all in the first stream */
    bool other_driver; /* than when `table` was measured */
    int32_t held;      /* UnetLaunch.held of launches */
    UnetStatus status; /* of the launches of a piece: the first failure */
    UnetError error;
    UnetFilterJobs jobs;         /* of steps that one launch does */
    UnetComparisons comparisons; /* the same */
    UnetTracks tracks;           /* the same */
    struct Check *checks;        /* of a checking build, the last one first */
};

/* ---- device.c ---------------------------------------------------------------------------------------- */

/* Whether all that was queued ends within 10 s. */
bool unet_cuda_settle(UnetCuda *cuda);
void unet_cuda_free_graphs(UnetCuda *cuda);

/* ---- state.c --------------------------------------------------------------------------------------- */

UnetStatus unet_cuda_failure(UnetError *error, cudaError_t code, const char *what);
UnetStatus unet_cuda_checked(cudaError_t code, const char *what, UnetError *error);

const UnetCudaProgram *unet_cuda_program(const UnetCudaModel *tables, int k);

/* Graphs of each piece: one, or, where iterations have other tensors, one for each of them. */
int32_t unet_cuda_graphs(const UnetCudaProgram *program);

/* The first stream in which convolution I runs; its plan there. */
int unet_cuda_stream_of(const UnetCudaModel *tables, int32_t i);
const UnetCudnnPlan *unet_cuda_plan(const UnetCuda *cuda, int32_t i);

/* Lets branches run one after the other from now on, or each in its stream, unless the environment variable
 * UNET_CUDA_BRANCHES is 0. */
UnetStatus unet_cuda_set_turns(UnetCuda *cuda, bool in_turns, UnetError *error);

/* Bytes of a UnetControl with the sizes of the samples behind it, a multiple of 8. */
size_t unet_cuda_control_bytes(const UnetCudaProgram *program);

/* ---- measured.c: the engines of a file, UnetDevice.uses_file and .fingerprint ------------------------ */

UnetStatus unet_cuda_describe(UnetEngineDevice *device, UnetError *error);

/* Lets the engines of FILE, which may be NULL, take the place of the engines that were compiled in. */
UnetStatus unet_cuda_take_engines(UnetCuda *cuda, const UnetEngineFile *file, UnetError *error);
void unet_cuda_free_engines(UnetCuda *cuda);

/* Convolution I of the program with the engine that is to compute it; its workspace is what the plan gives.
 */
UnetConvolution unet_cuda_pinned(const UnetCuda *cuda, int32_t i);

bool unet_cuda_uses_file(void *state);
void unet_cuda_fingerprint(void *state, char *text, size_t size);

/* ---- tune.c: UnetDevice.tune ----------------------------------------------------------------------- */

UnetStatus unet_cuda_tune(void *state, const char *path, const UnetTuneListener *listener,
                          UnetError *error);

/* ---- note.c: UnetDevice.libraries and .note -------------------------------------------------------- */

void unet_cuda_libraries(const UnetModel *model, char *text, size_t size);
void unet_cuda_note(void *state, char *text, size_t size);

/* ---- ranks.c: UnetDevice.introduce and .connect ---------------------------------------------------- */

UnetStatus unet_cuda_introduce(void *state, bool first, UnetPeer *peer, UnetError *error);
UnetStatus unet_cuda_connect(void *state, const UnetConnection *connection, UnetError *error);

/* Waits for EVENT, behind which other processes may be waited for. */
UnetStatus unet_cuda_await(UnetCuda *cuda, cudaEvent_t event, UnetError *error);

/* After unet_cuda_break_ranks() queued work waits for no other process; graphs are gone, and no step may be
 * begun. */
void unet_cuda_break_ranks(UnetCuda *cuda);
void unet_cuda_free_ranks(UnetCuda *cuda);

/* ---- exchange.c: see also unet_cuda_sum_ranks() in unet/cuda.h ------------------------------------- */

void unet_cuda_begin_ranks(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetStep *step);

/* Whether buckets of gradients are sent while this step goes on. */
bool unet_cuda_overlaps(const UnetCuda *cuda);

/* Whether the exchange of this step waits for nothing on the host, and is the same as in other such steps.
 */
bool unet_cuda_queues_ranks(const UnetCuda *cuda);

/* The stream of PIECE. */
cudaStream_t unet_cuda_stream(const UnetCuda *cuda, const UnetCudaPiece *piece);

/* PIECE, an exchange with other processes, is queued between these two: beside the step, behind all that
 * was queued so far, or in it, behind all that is sent beside it. */
UnetStatus unet_cuda_begin_exchange(UnetCuda *cuda, const UnetCudaPiece *piece, UnetError *error);
UnetStatus unet_cuda_end_exchange(UnetCuda *cuda, const UnetCudaPiece *piece, UnetError *error);

/* Tells the team how long the exchanges of a step took, which is over. */
UnetStatus unet_cuda_tell_exchanges(const StepSlot *slot, UnetError *error);

/* ---- arrays.c: UnetDevice.place_of, .read_array and .take_array ------------------------------------- */

UnetArrayPlace unet_cuda_place_of(const UnetModel *model, const UnetProgram *program, int32_t input,
                                  const void *array);
UnetStatus unet_cuda_read_array(void *to, const void *array, size_t bytes, UnetError *error);
UnetStatus unet_cuda_take_array(void *state, const UnetProgram *program, int32_t output, void *array,
                                UnetError *error);

/* Waits for whatever computes the arrays of a caller. */
UnetStatus unet_cuda_settle_arrays(UnetError *error);

/* Queues in STREAM: COUNT samples of input I from START on, from the array of STEP to PLACE. */
UnetStatus unet_cuda_bring_array(UnetCuda *cuda, const UnetProgram *program, const UnetStep *step,
                                 int32_t i, UnetStaging place, int64_t start, int64_t count,
                                 cudaStream_t stream, UnetError *error);

/* ---- step.c: UnetDevice.begin, .inputs_taken, .end and .timed_run --------------------------------- */

UnetStatus unet_cuda_begin(void *state, const UnetProgram *program, const UnetStep *step, UnetError *error);
UnetStatus unet_cuda_inputs_taken(void *state, UnetError *error);
UnetStatus unet_cuda_end(void *state, char *mirror, UnetError *error);
UnetStatus unet_cuda_timed_run(void *state, const UnetProgram *program, const UnetStep *step, bool parts,
                               const UnetDeviceTime **time, int32_t *count, UnetError *error);
void unet_cuda_free_checks(UnetCuda *cuda);

#endif
