/* model.h - what a generated program tells the runtime about itself.
 *
 * The compiler emits one constant UnetModel: tables of parameters, inputs, outputs, data sources and
 * settings, and one function per program (train, eval, predict) that runs a whole step over the arena.
 * The runtime holds every algorithm that is the same for all models, and finds all it needs in these
 * tables.  Nothing here is allocated or freed: every pointer is to static data of the generated file.
 *
 * Shapes are (channels, depth, height, width); an image has depth 1.  Sizes are in points, offsets of
 * the arena in bytes, strides in elements.
 */
#ifndef UNET_MODEL_H
#define UNET_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unet/instructions.h"
#include "unet/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UNET_MOST_THREADS 1024  /* that a program can be compiled for */
#define UNET_RUNTIME_VERSION 15 /* generated code refuses to compile against another */

typedef enum { UNET_F32, UNET_F64, UNET_U8, UNET_BF16, UNET_F16, UNET_UNORM8, UNET_UNORM16 } UnetType;

/* Bytes of an element.  UNET_UNORM8 and UNET_UNORM16 store a number from 0 to 1: value / 255,
 * value / 65535. */
size_t unet_type_bytes(UnetType type);

/* How a tensor of a batch lies in memory.  Channels come in blocks that are stored side by side at each
 * point; around the points lies a halo of zeros, which kernels read instead of testing for the border.
 * The element (n, c, d, h, w) is at
 *     origin + n*sample + (c / block)*plane + d*depth + h*row + w*block + c % block
 * Channels that pad the last block are zero.  A ring stores row h in place of row h mod `ring`. */
typedef struct {
    UnetType type;
    int32_t channels;
    int32_t size[3]; /* depth, height, width */
    int32_t block;   /* channels side by side: 16, or the channels of an image of 1 to 4 */
    int64_t origin;  /* of channel 0, point (0, 0, 0), sample 0 */
    int64_t sample, plane, depth, row;
    int32_t ring;         /* 0: each row has a place of its own */
    int64_t sample_bytes; /* of one sample, halo and padding included */
} UnetLayout;

/* ---- parameters ---- */

typedef enum {
    UNET_INIT_ZEROS,
    UNET_INIT_ONES,
    UNET_INIT_UNIFORM, /* in [-bound, bound): PyTorch's kaiming_uniform(a = sqrt(5)), bound = 1/sqrt(fan_in)
                        */
    UNET_INIT_HE_NORMAL, /* mean 0, standard deviation bound */
    UNET_INIT_CONSTANT,  /* bound */
} UnetInit;

enum { UNET_MOST_MOMENTS = 4 }; /* numbers that an optimiser keeps for each weight */

/* One tensor of the checkpoint, a parameter or a running statistic, in the order in which PyTorch's
 * state_dict has it (which is the order in which initial values are drawn).  Stored dense, in PyTorch's
 * dimension order. */
typedef struct {
    const char *name; /* "enc1.0.weight" */
    int32_t rank;
    int64_t dim[5];
    UnetInit init;
    double bound;
    int64_t offset;                     /* of the values in the arena */
    int64_t moments[UNET_MOST_MOMENTS]; /* of the optimiser's state for it (UnetTraining.moments), or -1 */
} UnetParameter;

/* The state of the loss scale, kept from step to step: the scale; the good steps since it last changed; the
 * steps taken (an overflow skips one); the factor of the gradients in the last step (0: skipped). */
enum { UNET_LOSS_SCALE, UNET_GOOD_STEPS, UNET_STEPS_TAKEN, UNET_UNSCALE, UNET_LOSS_SCALE_ELEMENTS };
enum { UNET_LOSS_SCALE_START = 65536 };

/* ---- what goes in and what comes out ---- */

/* UNET_SCALAR: a number for each sample, a map of one point and one channel. */
typedef enum { UNET_IMAGE, UNET_VOLUME, UNET_SIGNAL, UNET_SCALAR, UNET_LABELS } UnetKind;

/* The label of a point that no loss and no metric counts.  Labels are bytes. */
enum { UNET_IGNORED = 255 };

/* Plans of one model in a program (`unetc --plans`). */
enum { UNET_MOST_PLANS = 8 };

/* The most channels of a normalised input, and the most normalised inputs of a model. */
enum { UNET_MOST_NORMALIZED = 4, UNET_MOST_NORMALIZED_INPUTS = 8 };

/* An input is read as (value - mean) / deviation, channel by channel; where it is clipped, VALUE is brought
 * into low..high before. */
typedef struct {
    double mean[UNET_MOST_NORMALIZED], deviation[UNET_MOST_NORMALIZED];
    bool clips;
    double low[UNET_MOST_NORMALIZED], high[UNET_MOST_NORMALIZED];
} UnetNormal;

/* The source of mean and deviation: none; the model's file; the training data, before the first step; each
 * volume (the box of its voxels other than 0, or its mask); the voxels of the training data whose class is
 * above 0, clipped to their percentiles 0.5 and 99.5. */
typedef enum {
    UNET_AS_READ,
    UNET_NORMALIZED,
    UNET_NORMALIZED_AS_MEASURED,
    UNET_NORMALIZED_EACH,
    UNET_NORMALIZED_MASKED,
    UNET_NORMALIZED_CT
} UnetNormalizing;

/* The treatment of numbers in image files that are no value: NaN, infinity, and TIFF's nodata. */
typedef enum {
    UNET_MISSING_REFUSED,
    UNET_MISSING_VALUE,  /* they are another number */
    UNET_MISSING_IGNORED /* they are 0, and labels there count nowhere */
} UnetMissing;

/* How pictures are made larger or smaller as they are read: not at all; to just this size; to the largest
 * of their own proportions that fits into it; to the smallest that covers it. */
typedef enum { UNET_FIT_NONE, UNET_FIT_EXACT, UNET_FIT_INSIDE, UNET_FIT_OUTSIDE } UnetFit;

/* How files of images are read. */
typedef struct {
    UnetMissing missing;
    double missing_value;
    bool signal;       /* of signals: an array has the axes channels and length, or length alone */
    bool words;        /* numbers of words, which stay as they are, as numbers of classes do */
    bool to_grey;      /* three colours become one channel, as unet/image.h says */
    bool upright;      /* turned as EXIF or TIFF says */
    bool alpha;        /* its alpha alone is read, as one channel */
    bool names_page;   /* of a file of several pages that with this number, from 0 on: */
    int32_t page;      /*   else the first, which is told */
    const char *entry; /* the name of the array to read from an archive; NULL: the archive has only one */
    UnetFit fit;       /* else than by UNET_FIT_NONE: */
    int32_t box[2];    /*   height and width, and what comes of these is */
    int32_t times;     /*   so many times as large */
} UnetImageWay;

/* A predicted volume of COUNT channels is written as one map of classes.  A point has the class of the last
 * channel whose value there is greater than ABOVE, or 0. */
enum { UNET_MOST_REGIONS = 64 };
typedef struct {
    int32_t count; /* 0: no volume is written so */
    int32_t class_of[UNET_MOST_REGIONS];
    double above;
} UnetRegions;

typedef struct {
    const char *name;
    UnetKind kind;
    bool is_target;
    int32_t channels;
    int32_t classes, ignore; /* of labels: how many; the value in files that counts nowhere, or -1 */
    UnetNormalizing normalizing;
    UnetNormal normal; /* UNET_NORMALIZED: as the file says */
    UnetImageWay way;  /* of images: as files of the data are read, from which it comes */
} UnetInput;

typedef struct {
    const char *name;
    UnetKind kind;
    int32_t classes; /* of labels: a class for each point, in bytes */
} UnetOutput;

/* A loss or a metric.  Each valid sample has a value of its own; the program leaves their SUM in a double
 * of the arena, and the driver divides by the number of samples it saw. */
typedef enum { UNET_LOSS, UNET_METRIC } UnetResultKind;
typedef struct {
    const char *name;   /* "mse(denoised, clean)": as written in the file */
    const char *metric; /* "mse", "l1", "psnr" */
    UnetResultKind kind;
    double weight; /* factor of a loss in the sum that is minimised; 1 for a metric */
    bool higher_is_better;
    int32_t identity_input; /* psnr: the input (noisy) whose own psnr is measured once, to tell the gain;
                               or -1 */
    int32_t target_input;   /* the target that the prediction is compared with, or -1 */
    int32_t classes;        /* a metric of classes: the program leaves so many times as many doubles, how
                               often each true class (rows) met each predicted one; 0: none */
    int32_t of_class;       /* "iou", "dice", "precision", "recall": of this class */
    int32_t output;         /* index of the output that it compares; -1: it compares another tensor */
    int32_t ignored;        /* of its labels: a class that counts nowhere, or -1 */
} UnetResult;

/* Doubles that a step leaves of a result. */
static inline int32_t unet_result_numbers(const UnetResult *result) {
    return result->classes > 0 ? result->classes * result->classes : 1;
}

/* ---- programs ---- */

/* A step of the plan: what a kernel computes, or a few. */
typedef struct {
    int32_t position;     /* in the plan, from 0: the number that reports of the compiler give it */
    const char *name;     /* "conv of enc1.0" */
    const char *method;   /* if there are several: "Winograd", "direct: fewer than 12 columns"; else NULL */
    int32_t line;         /* of the .unet file, which calls for it; 0: none */
    int64_t flops, bytes; /* that it computes, and that it reads and writes, for a whole batch: a step in a
                             loop does a part of that each time it begins */
} UnetPlanStep;

/* Is told of each step of the plan that begins, by the thread that runs the program, once all threads have
 * done what stands before it: for clocks.  A caller makes it the first member of a struct of its own. */
typedef struct UnetWatch {
    void (*begins)(struct UnetWatch *watch, const UnetPlanStep *step);
} UnetWatch;

/* Processes that train together, as a step sees them.  A caller makes it the first member of a struct of
 * its own. */
typedef struct UnetTeam {
    /* Adds up SUM, COUNT numbers of UnetModel.real, over all processes that have samples, as a binary tree
     * in the order of the ranks.  WHOLE: the process gets all sums; else it gets its slice.  ROOM holds
     * COUNT numbers, and one more for each process. */
    void (*sum)(void *team, void *sum, void *room, int64_t count, int whole);
    /* Begins to add up BUCKET of UnetTraining.buckets, which lies at SUM and has a ROOM of its own, while
     * the caller goes on.  Nobody touches the bucket or its room until `sum`, called with all numbers, has
     * returned.  Buckets begin in their order; `sum` adds up each bucket that has not begun. */
    void (*start)(void *team, void *sum, void *room, int32_t bucket, int whole);
    /* Gives each process all COUNT numbers.  Before, each has only its own slice right. */
    void (*gather)(void *team, void *numbers, int64_t count);
    /* COUNT whole numbers become their sums over all processes. */
    void (*add)(void *team, int64_t *number, int32_t count);
    /* Returns when all processes have called it.  For devices that reach each other by themselves.  A
     * failure names each process that did not call. */
    UnetStatus (*meet)(void *team, UnetError *error);
    /* A failure names a process that has ended. */
    UnetStatus (*look)(void *team, UnetError *error);
    /* In a step the device has waited so many SECONDS for the others, and an exchange with them took ALL of
     * these, beside the step, too. */
    void (*waited)(void *team, double seconds, double all);
    int32_t rank, size; /* rank R of SIZE has the slice [count * R / SIZE, count * (R + 1) / SIZE) */
} UnetTeam;

/* Returns the first of COUNT numbers that is in the slice of a process or, if NEXT is 1, in the slice of
 * the next process.  If TEAM is NULL, a step is timed alone: it takes the first of SLICES. */
static inline int64_t unet_slice(const UnetTeam *team, int64_t count, int32_t slices, int32_t next) {
    return team != NULL ? count * (team->rank + next) / team->size : count * next / slices;
}

/* The arguments of one step. */
typedef struct {
    char *arena;               /* of the extent of the program, aligned to 64 bytes */
    const void *const *inputs; /* one per UnetModel.inputs: a batch in the program's layout, or NULL.
                                  Samples that this step does not compute may be missing */
    const int32_t (*valid)[3]; /* per sample and axis: how many of the points that losses and metrics
                                  compare are image and not padding; NULL: all */
    int32_t n;                 /* valid samples, 1 to batch; the others are not touched */
    int32_t threads;           /* 1 to max_threads */
    double learning_rate;
    int64_t step;  /* of the optimiser, from 1; in evaluation the number of samples before this batch */
    uint64_t seed; /* of random numbers: seed, step and sample decide which elements dropout drops */
    int32_t units; /* programs for images of any height: the height of this image (UnetProgram.units) */
    int32_t band, bands; /*   compute the bands [band, band + bands) of it */
    UnetWatch *watch;    /* NULL: nobody; a model's device has a clock of its own */
    /* Training with UnetTraining.ranks: this process computes the samples [first, last) of the n; last 0:
     * all */
    int32_t first, last;
    UnetTeam *team; /* the other processes; NULL: there are none */
    /* Arrays of a caller, dense, in the memory of the model's device: the samples of inputs for which
     * `inputs` has NULL; and by what normalised inputs are read, in their order. NULL: there are none. */
    const void *const *arrays;
    const UnetNormal *normals;
} UnetStep;

/* The rows of a tensor in one band, in a program that computes an image band by band.  Band b has the rows
 * from b * rows - lag to (b + 1) * rows - lag, as far as the tensor has them.  In an image of u units the
 * tensor has u * of_unit rows. */
typedef struct {
    int32_t rows, lag, of_unit;
} UnetBand;

/* One axis of images, in points of the input.  Images are padded to whole units; windows begin at multiples
 * of `grid`.  The first `before` and the last `after` points of a window depend on pixels outside of the
 * window, so they do not count. */
typedef struct {
    int32_t unit, grid, before, after;
} UnetReach;

/* Prediction of images and volumes larger than the compiled size, by windows of that size (unet/windows.h).
 */
typedef struct {
    bool given; /* the model's file asks for windows: every image is predicted so and outputs are blended, a
                   map of classes before its `argmax`; else only larger images are, and each point gets the
                   class of most windows */
    int32_t most[2]; /* the largest height and width of a volume that the arena has room for; 0: none */
    double overlap;  /* the least share of a window that the next one covers, too */
    bool gaussian;   /* weights; else all points count alike */
    uint32_t mirror; /* bit 0 depth, bit 1 height, bit 2 width: each window counts mirrored along each set
                        of these axes */
    /* Offsets in the arena of as many slices as a window is deep, each of up to `most` points: the input in
     * floats, and the sums of each output. */
    int64_t slices;
    const int64_t *sums;
    /* Images: along height and width; and whether windows give the bits that the whole image would give. */
    UnetReach reach[2];
    bool exact, same_bits;
    const char
        *sees_all; /* else: "instance_norm of enc1.0", which needs all of an image, on this line; NULL: */
    int32_t line;  /*   windows are too small */
} UnetWindows;

typedef struct {
    const char *name;              /* "train", "eval", "predict" */
    void (*run)(const UnetStep *); /* NULL: runs on the model's device */
    /* If not NULL: call it before `run`, on the same arena, once the weights are set and again after
     * another program ran there.  It needs no inputs, and may overwrite inputs that lie in the arena. */
    void (*prepare)(const UnetStep *);
    int32_t batch;
    int32_t steps;       /* of the plan: their positions are below */
    int32_t size[3];     /* of the first input */
    int32_t measured[3]; /* size of the tensors that losses and metrics compare; 0: they differ, or there
                            are none */
    int64_t extent;      /* bytes of the arena it uses */
    const UnetLayout *inputs;  /* one per UnetModel.inputs; sample_bytes 0: not read by this program */
    const UnetLayout *outputs; /* predict: one per UnetModel.outputs; else NULL */
    const int64_t *output_offsets;
    /* Prediction on the host: the caller stores the input in the arena, and not where UnetStep.inputs says;
     * one per UnetModel.inputs, -1: not read.  Else NULL. */
    const int64_t *input_offsets;
    /* The height of an image of the compiled size, in units; 0: images have that height.  Else an image may
     * have any number of units: the caller stores a band of the input or several, `run` computes them, and
     * the caller takes the same bands of the outputs before it stores the next. */
    int32_t units;
    const UnetBand *input_bands,
        *output_bands;             /* with input_offsets; without units: one band of all rows */
    const UnetWindows *windows;    /* NULL: nothing may be larger than the compiled size */
    const int64_t *result_offsets; /* one per UnetModel.results: offset of its double, -1: not measured */
    int64_t gradient_norm;         /* training that clips by the norm: offset of its double; 0: none */
    int64_t input_bytes; /* of one loader slot: the sum of batch * sample_bytes, each rounded up to 64 */
} UnetProgram;

/* ---- labels ---- */

/* A sum over the points of labels that are image and not padding: each adds the weight of its class.  A
 * point of another value adds nothing.  A loss that is a mean over the points that count divides by the
 * sum.  Without `weight` the input has numbers, and each that rounds to a class adds 1. */
typedef struct {
    int32_t input; /* in UnetStep.inputs, */
    UnetLayout layout;
    int32_t classes;
    const double *weight; /* per class; or NULL */
    int32_t number_bytes; /* of a number without `weight`: 4, a float, or 8, a double */
} UnetLabelCount;

enum { UNET_MOST_LABEL_COUNTS = 8 }; /* of a program */

/* Counts the points of each class in sample N of the labels in INPUT and adds the counts to POINTS.  VALID:
 * the points along each axis that are no padding.  Ignored points are points[UNET_IGNORED]. */
void unet_count_points(const UnetLayout *layout, const void *input, int32_t n, const int32_t valid[3],
                       int64_t points[UNET_IGNORED + 1]);

/* Computes SUM, one per COUNT, over all samples of the batch, including the samples of other processes. */
void unet_count_labels(const UnetLabelCount *count, int32_t ncount, const UnetStep *step, double *sum);

/* ---- data ---- */

/* A source is a small expression in postfix order. */
typedef enum {
    UNET_SRC_FILES,    /* push: images or volumes of `pattern`; or classes, alone, for an input of labels */
    UNET_SRC_NAME,     /* push: the source called `pattern`, an earlier one of the section */
    UNET_SRC_NUMBER,   /* push: value */
    UNET_SRC_GAUSSIAN, /* push: normal noise of standard deviation `value`, in the shape it fills */
    UNET_SRC_UNIFORM,  /* push: one number per sample in [value, high) */
    UNET_SRC_BORDER,   /* alone: border_weight() of the labels that the source `pattern` fills, with w0
                          `value` and sigma `high` */
    UNET_SRC_HIDE,     /* alone: words of the source `pattern` that are hidden there, as `hidden` says */
    UNET_SRC_NEXT,     /* alone: the word behind each word of the source `pattern` */
    UNET_SRC_CLASS,    /* push: the class of the sample, which the folder of the first file of the source
                          `pattern` names */
    UNET_SRC_ADD,
    UNET_SRC_SUB,
    UNET_SRC_MUL,
    UNET_SRC_DIV
} UnetSourceOp;

/* Which words of a sample are hidden: each from the word `first` on with the probability `share`.  The
 * share `kept` of hidden words stays, the share `random` becomes any word from `first` on, and the others
 * become `mask`. */
typedef struct {
    double share, random, kept;
    int32_t mask, first;
} UnetHidden;

typedef struct {
    UnetSourceOp op;
    const char *pattern; /* of files, with or without stars; or a name */
    double value, high;
    int32_t line;     /* of the .unet file, for messages */
    const char *list; /* of files: a text file that has the text for the stars, one a line; or NULL */
    int32_t column;   /* of files: `pattern` is a text file whose words of this column are their names */
    const char *const *more; /* of files: the patterns or text files of further folders, then NULL; or NULL.
                                All terms of files have as many.  A class has its folders here, in the
                                order of the classes, then NULL; or NULL: its folder is called by a
                                number */
    bool volumes;            /* of files: they are volumes, as all files of the section are, or none */
    int32_t channel;         /* of volumes: the channel that they fill.  From 1 on it is a channel of the
                                operand before, and nothing is pushed */
    UnetImageWay way;        /* of files of images */
    const UnetHidden *hidden; /* of hidden words, else NULL */
} UnetSourceTerm;

typedef struct {
    const char *name;
    int32_t input;    /* index in UnetModel.inputs, or -1: only used by later sources */
    int32_t channels; /* to read */
    int32_t nterm;
    const UnetSourceTerm *term;
    const int32_t *values; /* of labels: for each class its values in files, then -1; NULL: the value of a
                              class is its number */
    bool ignores_others;   /* of labels: points of any other value count nowhere */
    bool rounds;           /* of labels: numbers that are not whole are the nearest */
    bool colours;          /* of labels: values are colours, red * 65536 + green * 256 + blue */
    int32_t words;         /* of tokens: their numbers are below it; else 0 */
} UnetSource;

typedef enum {
    UNET_DO_CROP, /* of volumes: share of windows around a voxel of a class above 0 */
    UNET_DO_FLIP,
    UNET_DO_SCALE,         /* least, most factor, step (0: any); volumes draw 1/factor evenly */
    UNET_DO_ROT90,         /* by 0 to 3 quarter turns */
    UNET_DO_ROTATE,        /* most degrees, step (0: any) */
    UNET_DO_ELASTIC,       /* standard deviation of displacements, grid of them along each axis */
    UNET_DO_DISTORT,       /* the most change of brightness, contrast, saturation, and hue in degrees */
    UNET_DO_GAMMA,         /* least, most exponent; 1: of the inverted volume */
    UNET_DO_BLUR,          /* least, most standard deviation in points */
    UNET_DO_NOISE,         /* most standard deviation */
    UNET_DO_LOW_RESOLUTION /* volumes: least, most share of the points that are left along an axis */
} UnetTransformOp;
/* UNET_PAD_MEAN, of volumes: 0, once they are normalised. */
typedef enum {
    UNET_PAD_NONE,
    UNET_PAD_VALUE,
    UNET_PAD_REFLECT,
    UNET_PAD_REPLICATE,
    UNET_PAD_ZERO,
    UNET_PAD_MEAN
} UnetPad;

typedef struct {
    UnetTransformOp op;
    bool random; /* crop: anywhere (training) or the centre */
    UnetPad pad; /* crop: files that are too small */
    double pad_value;
    uint32_t axes; /* bit 0 depth, bit 1 height, bit 2 width: axes to mirror along; for volumes, axes to
                      scale, to turn about, or to make coarser */
    double p;      /* probability: of each axis (flip), of each change (distort), else of the transform */
    double amount[4]; /* as UnetTransformOp says */
} UnetTransform;

/* The term of SOURCE that is the class of a folder; NULL: there is none. */
const UnetSourceTerm *unet_class_term(const UnetSource *source);

/* The class that the text NAME of LENGTH bytes names: its place among NAMES, which end with NULL; or, NAMES
 * being NULL, the whole number that it is.  -1: no class. */
int32_t unet_class_named(const char *const *names, const char *name, size_t length);

/* The sections `data` and `eval`: the latter has sources of its own, or none (then: the holdout). */
typedef struct {
    const UnetSource *source;
    int32_t nsource;
    const UnetTransform *transform;
    int32_t ntransform;
    double holdout;
    int64_t holdout_seed;
    int32_t folds; /* the caller names the fold that is held out; 0: `holdout` is the share held out */
    uint32_t fold_seed;
    bool shuffle;
    int32_t threads; /* loader threads; 0: cores - 1, at most 8 */
} UnetData;

typedef enum { UNET_EPOCHS, UNET_STEPS } UnetUnit;

typedef enum {
    UNET_SCHEDULE_CONSTANT,
    UNET_SCHEDULE_POLY,    /* (1 - t/T)^power, down to `to` */
    UNET_SCHEDULE_COSINE,  /* half a cosine down to `to` */
    UNET_SCHEDULE_STEP,    /* times `factor` after each `every` */
    UNET_SCHEDULE_STEPS,   /* times `factor` after each of `at` */
    UNET_SCHEDULE_PLATEAU, /* times `factor` when more than `patience` evaluations in a row were not better
                            */
    UNET_SCHEDULE_ONE_CYCLE, /* up from rate / div, in a share `rise` of the steps; then down to rate / div
                                / final_div */
} UnetScheduleKind;

/* How the learning rate changes, beginning with the rate of the optimizer: see unet/schedule.h. */
typedef struct {
    UnetScheduleKind kind;
    UnetUnit per; /* what t counts */
    double power, to, factor, rise, div, final_div;
    int64_t every, patience;
    const int64_t *at; /* ascending */
    int32_t nat;
    int64_t warmup; /* steps in front of it, */
    double start;   /*   linear from this rate on */
} UnetSchedule;

/* Each process keeps and updates a slice (UnetTeam.size) of the optimiser's state.  `slice` is the offset
 * in the arena of each moment's slice; -1: the process has all of the moment.  `whole` is the offset of the
 * place where the slices of all processes are put together between two steps.  UnetParameter.moments are
 * offsets in that place. */
typedef struct {
    int64_t numbers; /* of one moment in all slices */
    int64_t slice[UNET_MOST_MOMENTS], whole[UNET_MOST_MOMENTS];
} UnetSlices;

/* A slice of the gradients, [FIRST, FIRST + COUNT), which may be summed while other gradients are computed.
 * It uses the room for all gradients from number PLACE on. */
typedef struct {
    int64_t first, count, place;
} UnetBucket;

enum { UNET_MOST_BUCKETS = 4 };

typedef struct {
    double learning_rate;
    const char *moments[UNET_MOST_MOMENTS]; /* what PyTorch calls the optimiser's state: "exp_avg"; then
                                               NULL */
    bool averages;                /* the last moment is the averaged weights, which eval and predict read */
    bool codes_state;             /* other moments of large parameters lie in codes (unet/codes.h) */
    const UnetSchedule *schedule; /* NULL: the rate stays */
    int64_t patience; /* training ends after so many evaluations in a row without a better one; 0: never */
    bool drop_tail;   /* drop the last, smaller batch of an epoch */
    int64_t duration; /* in duration_unit */
    UnetUnit duration_unit;
    int64_t steps_per_epoch; /* 0: all samples once */
    int64_t save_every;
    UnetUnit save_unit;
    int32_t save_keep;
    int64_t eval_every;
    UnetUnit eval_unit;
    int64_t seed;
    int32_t ranks; /* processes that may train together, a power of two; 0, 1: one.  The samples of a batch
                      are cut into so many groups of the same length */
    int32_t processes;          /* the fewest processes that train together; 0, 1: one may train alone */
    const UnetBucket *buckets;  /* all gradients, in their order; */
    int32_t nbucket;            /*   0: the gradients are summed at once */
    const UnetSlices *slices;   /* NULL: each process has all of the optimiser's state */
    const char *pretrained;     /* or NULL */
    const char *pretrained_map; /* of the names in it (unet_safetensors_rename), or NULL */
    const char *description;    /* "adam(lr = 0.0005)" */
} UnetTraining;

/* ---- diffusion ---- */

/* A network that `diffuse` trained tells one of these of a noisy picture sqrt(a) p + sqrt(1 - a) e: e,
 * sqrt(a) e - sqrt(1 - a) p, or p. */
typedef enum { UNET_TELLS_NOISE, UNET_TELLS_VELOCITY, UNET_TELLS_PICTURE } UnetObjective;

typedef struct {
    int32_t picture, time; /* in UnetModel.inputs */
    int32_t output;        /* in UnetModel.outputs: what the network tells */
    UnetObjective objective;
    int32_t times;
    const double *kept; /* a at each of these times */
} UnetDiffusion;

/* ---- the model ---- */

/* The layers that an operator computes by one of several methods. */
typedef struct {
    const char *operator_name; /* "conv", "conv_wgrad" */
    const char *method;        /* as in UnetPlanStep */
    const char *const *layers; /* "enc1.0", ...; NULL behind the last */
} UnetMethod;

typedef struct {
    int32_t runtime_version; /* UNET_RUNTIME_VERSION and */
    int32_t table_bytes;     /* UNET_TABLE_BYTES where the model was compiled */
    const char *name;        /* "tiny_unet" */
    const char *source;      /* "tiny_unet.unet" */
    const char
        *source_hash;      /* hexadecimal: of the text, and of the options that change the trained model */
    const char *target;    /* "cpu" */
    const char *isa;       /* the processor or GPU: "native", "portable", "x86-64-v3", "sm_90" */
    int64_t instructions;  /* UNET_INSTRUCTIONS_USED: the processor needs them */
    UnetType real;         /* f32; f64 in a reference build */
    const char *precision; /* of activations: "f32", "f64", "tf32", "bf16", "f16" */
    const char *products;  /* on the host, of activations in bf16: UNET_BF16_PRODUCTS; else NULL */
    bool yields;           /* to the next variant of the program, where pairs of bf16 are slow */
    const struct UnetDevice *device; /* where steps run; NULL: on the host, by UnetProgram.run */
    const void *device_tables;       /* for that device alone, which knows their type; NULL without one */
    int32_t max_threads;             /* at most UNET_MOST_THREADS */

    int32_t nmethod; /* of the first program that the model has */
    const UnetMethod *method;
    int32_t nparameter;
    const UnetParameter *parameter;
    int64_t parameter_count; /* elements of all parameters */
    int64_t persistent;      /* bytes at the front of the arena that live across steps and programs:
                                parameters, then (training) the optimiser's state.  In a program that only
                                predicts the weights that `prepare` packs belong to them */
    int64_t loss_scale;      /* training in f16: offset of UNET_LOSS_SCALE_ELEMENTS doubles; 0: none */
    int32_t ninput;
    const UnetInput *inputs;
    int32_t noutput;
    const UnetOutput *outputs;
    int32_t nresult;
    const UnetResult *results;

    const UnetProgram *train, *eval, *predict; /* NULL: not compiled in */
    int64_t arena_bytes;                       /* the largest extent of a program */
    int32_t ring;                              /* loader slots, at most */
    bool stages_as_files; /* pictures wait for a step in the type of their files, 8 or 16 bits; a picture
                             that would lose bits is refused */
    int64_t loader_ring_bytes; /* ring * the largest input_bytes; in training, the share of one process */
    UnetPad predict_pad;
    bool measures_original; /* the command `eval` measures resized pictures at their own size */
    bool trims;             /* volumes are cut down to the box of their voxels other than 0 */
    bool cubic;             /* images of volumes are resampled by splines of order 3, else linearly */
    UnetRegions regions;
    double spacing[3]; /* volumes are resampled to it: depth, height, width in mm; 0: they are not */

    const UnetData *data, *eval_data; /* NULL: no such section */
    const UnetTraining *training;     /* NULL: prediction only */
    const UnetDiffusion *diffusion;   /* NULL: the network was not trained to make pictures out of noise */
} UnetModel;

/* The size of all tables of generated code.  It differs if a program was compiled with one version of this
 * file and linked with a runtime of another. */
#define UNET_TABLE_BYTES                                                                                   \
    ((int32_t)(sizeof(UnetModel) + sizeof(UnetParameter) + sizeof(UnetInput) + sizeof(UnetOutput) +        \
               sizeof(UnetResult) + sizeof(UnetStep) + sizeof(UnetProgram) + sizeof(UnetWindows) +         \
               sizeof(UnetLabelCount) + sizeof(UnetSource) + sizeof(UnetSourceTerm) +                      \
               sizeof(UnetTransform) + sizeof(UnetData) + sizeof(UnetSchedule) + sizeof(UnetSlices) +      \
               sizeof(UnetMethod) + sizeof(UnetBucket) + sizeof(UnetTraining) + sizeof(UnetDiffusion)))
#define UNET_OTHER_TABLES                                                                                  \
    "the program was compiled with the headers of another runtime than it is linked with: compile it "     \
    "again "                                                                                               \
    "with this `unetc`"

/* The first of INSTRUCTIONS (unet/instructions.h) that this processor does not have, or NULL. */
const char *unet_lacking_instruction(int64_t instructions);

/* Returns whether this processor takes longer for a product of pairs of bf16 than for the same products in
 * f32, or has no instruction for it (avx512bf16). */
bool unet_pairs_are_slow(void);

/* MODELS are one model compiled for several sets of instructions, best first.  Returns the first that this
 * processor runs and that is not slow on it; NULL: there is none. */
const UnetModel *unet_best_model(const UnetModel *const *models, int32_t nmodels);

/* The main() of a generated program.  MODELS are one model compiled for several instruction sets, best
 * first; the first that this processor runs is used, or the one whose `isa` the environment's UNET_ISA
 * names. */
int unet_main(const UnetModel *const *models, int nmodels, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
