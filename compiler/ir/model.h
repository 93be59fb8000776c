/* model.h - what a .unet file says: its graph, inputs, outputs and results, and its sections.  lower.c
 * fills it. */
#ifndef MODEL_H
#define MODEL_H

#include "base/diag.h"
#include "base/table.h"
#include "ir/graph.h"

typedef enum { KIND_IMAGE, KIND_VOLUME, KIND_SIGNAL, KIND_NUMBER, KIND_LABELS } Kind;

/* The way of the numbers of an input to the network; as UnetNormalizing. */
typedef enum {
    AS_READ,
    NORMALIZED,
    NORMALIZED_AS_MEASURED,
    NORMALIZED_EACH,   /* each volume by itself, */
    NORMALIZED_MASKED, /*   or what of it its mask has */
    NORMALIZED_CT
} Normalizing;
/* Channels of an input that is normalised, and inputs that are. */
enum { MOST_NORMALIZED = 4, MOST_NORMALIZED_INPUTS = 8 };

enum { MOST_CLASSES = 255, IGNORED = 255 }; /* of labels, which are bytes; a point that counts nowhere */

typedef struct {
    const char *name;
    Kind kind;
    bool is_target;
    int64_t classes; /* of labels: their values are below it; else 0 */
    int64_t ignore;  /*   the value in files of points that count nowhere, -1: there are none */
    ValueId value;   /* of class CLASS_STAGING */
    Normalizing normalizing;
    double mean[MOST_NORMALIZED], deviation[MOST_NORMALIZED]; /* NORMALIZED: of each channel */
    Span span, size_span; /* size_span: where its sizes are written, line 0 if nowhere */
} Input;

typedef struct {
    const char *name;
    ValueId value;
    int64_t classes; /* of a map of classes; else 0 */
    Span span;
} Output;

/* A loss or metric: VALUE is the one-double result of its node, an OP that compares with TRUTH. */
typedef struct {
    const char *text; /* as written: "mse(denoised, clean)" */
    ValueId value, truth;
    Op op;
    bool is_loss;
    double weight;                 /* of a loss */
    const LabelAttributes *labels; /* of what compares with classes, else NULL */
    int output;                    /* that it compares, or -1 */
    Span span;
} Result;

typedef enum {
    SOURCE_FILES,
    SOURCE_NAME,
    SOURCE_NUMBER,
    SOURCE_GAUSSIAN,
    SOURCE_UNIFORM,
    SOURCE_BORDER,
    SOURCE_HIDE,
    SOURCE_NEXT,
    SOURCE_CLASS,
    SOURCE_ADD,
    SOURCE_SUB,
    SOURCE_MUL,
    SOURCE_DIV
} SourceOp;

/* How files of images are read; the same as UnetImageWay. */
typedef enum { FIT_NONE, FIT_EXACT, FIT_INSIDE, FIT_OUTSIDE } Fit;
typedef enum { MISSING_REFUSED, MISSING_VALUE, MISSING_IGNORED } Missing;
typedef struct {
    Missing missing;
    double missing_value;
    bool signal, words, to_grey, upright, alpha, names_page;
    int page;
    const char *entry;
    Fit fit;
    int box[2];
    int times;
} ImageWay;

/* As UnetHidden, which says what they are. */
typedef struct {
    double share, random, kept;
    int mask, first;
} Hidden;

typedef struct {
    SourceOp op;
    const char *text; /* pattern or name */
    double value, high;
    const char *list; /* of files: what their stars stand for; NULL: all that there are */
    int column;       /* of files: `text` is a list of their names, in this column; 0: a pattern */
    const char *const
        *more;    /* of files: patterns or lists of further folders; of classes: their folders, */
    int nmore;    /*   so many */
    bool volumes; /* of files */
    int bits;     /* of files of images: the most that a number of theirs has, by their names; 0: any */
    const char *format; /*   what these say that the first is: "PNG"; NULL: nothing */
    int channel;        /* of volumes: that they fill; from 1 on, of what the term before pushes */
    ImageWay way;       /* of files of images */
    Hidden hidden;      /* of hidden words */
    Span span;
} SourceTerm; /* postfix; the same as UnetSourceTerm */

typedef struct {
    const char *name;
    int input; /* index in Model.input, or -1 */
    int channels;
    SourceTerm *term;
    int nterm;
    const int64_t
        *values; /* of labels: the values in files of each class, -1 behind the values of a class, */
    int nvalue;  /*   so many with these; NULL: its number */
    bool ignores_others; /*   points of other values count nowhere; */
    bool rounds;         /*   numbers that are not whole are the nearest; */
    bool colours;        /*   values are colours, red * 65536 + green * 256 + blue */
    int words;           /* of tokens: their numbers are below it; else 0 */
    Span span;
} Source;

/* Is the term made of words that another source reads? */
static inline bool source_tells_words(const SourceTerm *term) {
    return term->op == SOURCE_HIDE || term->op == SOURCE_NEXT;
}

/* As UnetTransformOp, which says what their amounts are. */
typedef enum {
    TRANSFORM_CROP,
    TRANSFORM_FLIP,
    TRANSFORM_SCALE,
    TRANSFORM_ROT90,
    TRANSFORM_ROTATE,
    TRANSFORM_ELASTIC,
    TRANSFORM_DISTORT,
    TRANSFORM_GAMMA,
    TRANSFORM_BLUR,
    TRANSFORM_NOISE,
    TRANSFORM_LOW_RESOLUTION
} TransformOp;
typedef enum { PAD_NONE, PAD_VALUE, PAD_REFLECT, PAD_REPLICATE, PAD_ZERO, PAD_MEAN } Pad;

typedef struct {
    TransformOp op;
    bool random;
    Pad pad;
    double pad_value;
    unsigned axes; /* bit 0 depth, 1 height, 2 width */
    double p;
    double amount[4];
    Span span;
} Transform;

typedef struct {
    bool present;
    Span span;
    Source *source;
    int nsource;
    Table source_of; /* from names to elements of `source` */
    Transform *transform;
    int ntransform;
    double holdout;
    int64_t holdout_seed;
    int folds; /* one of them is held out; 0: there are none */
    int64_t fold_seed;
    Span folds_span;
    bool shuffle;
    int threads;
    Normalizing normalizing;
    const double *mean, *deviation; /* NORMALIZED: as many as NNORMAL: one, or one a channel */
    int nnormal;
    Span normalize_span;
    double spacing[3]; /* of depth, height, width, in mm, to which volumes are resampled; 0: they are not */
    bool cubic;        /*   images by splines of order 3, else linearly */
    Span spacing_span;
    Fit fit;    /* of pictures, as they are read; */
    int box[2]; /*   height and width: see UnetImageWay */
    Span resize_span;
    bool trims; /* volumes, to the box around all voxels that are not 0 */
    Span trim_span;
} DataSection;

typedef enum { UNIT_EPOCHS, UNIT_STEPS } Unit;

typedef enum {
    SCHEDULE_CONSTANT,
    SCHEDULE_POLY,
    SCHEDULE_COSINE,
    SCHEDULE_STEP,
    SCHEDULE_MULTISTEP,
    SCHEDULE_PLATEAU,
    SCHEDULE_ONE_CYCLE
} ScheduleKind;

/* The course of the learning rate, from the optimizer's rate on; the same as UnetSchedule. */
typedef struct {
    ScheduleKind kind;
    Unit per;
    double power, to, factor, rise, div, final_div;
    int64_t every, patience;
    const int64_t *at; /* ascending */
    int nat;
    int64_t warmup; /* steps in front of it, */
    double start;   /*   from this rate on */
    Span span;
} Schedule;

/* A pattern for layers (base/layers.h), such as layers that are not trained. */
typedef struct {
    const char *pattern;
    Span span; /* line 0: the command line */
} LayerPattern;

enum { MOST_RANKS = 1024 };

/* A network that was trained by diffusion tells one of these. */
typedef enum { OBJECTIVE_NOISE, OBJECTIVE_VELOCITY, OBJECTIVE_PICTURE } Objective;

/* Noise is added to a picture step by step, and a network learns to take it away again. */
typedef struct {
    bool present;
    int picture, time, truth; /* in Model.input */
    int output;               /* in Model.output: it is compared with the truth, and a sampler needs it */
    Objective objective;
    const double *kept; /* at each time, the square of what the picture is multiplied with, */
    int times;          /*   so many */
    const double *root; /* of what a squared error at each time weighs; NULL: all weigh 1 */
    Span span;
} Diffusion;

typedef struct {
    bool present;
    bool shards_optimizer; /* each of several processes has a slice of the optimiser's state */
    bool drop_tail;
    Span span;
    Optimizer optimizer;
    const char *optimizer_text;
    Schedule schedule;
    double clip_norm, clip_value; /* of gradients; 0: as they are */
    double ema;                   /* how much of the averaged weights a step keeps; 0: there are none */
    bool codes_state;             /* the optimiser's state in 8 bits (unet/codes.h) */
    Span state_span;
    int64_t compress; /* activations wait for the backward pass in codes of so many bits; 0: as they are, */
    const LayerPattern *exact; /*   except what these layers read */
    int nexact;
    int64_t patience; /* evaluations without a better one that end training; 0: none do */
    Span patience_span;
    int64_t batch;      /* samples of a step: the setting `batch`, times `accumulate` */
    int64_t accumulate; /* in at least so many parts, one after the other */
    int64_t ranks; /* the gradients of so many groups of samples are added as a binary tree; 1: in order */
    Span batch_span, accumulate_span, ranks_span;
    int64_t processes; /* of `ranks`, at least so many train together; 1: it may be one alone */
    int64_t duration;
    Unit duration_unit;
    int64_t steps_per_epoch;
    int64_t save_every;
    Unit save_unit;
    int save_keep;
    int64_t seed;
    int64_t memory; /* bytes, 0: no budget */
    Span memory_span;
    Type precision; /* of activations and their gradients, unless the command line says another */
    const char *pretrained, *pretrained_map; /* or NULL */
    const LayerPattern *frozen;              /* the layers of the command line last */
    int nfrozen;
} TrainSection;

/* With `ranks`, a power of two, the setting `batch` is a multiple of so many samples. */
static inline int64_t ranks_batch_unit(const TrainSection *train) {
    const int64_t of_accumulate = train->accumulate & -train->accumulate; /* the power of two in it */
    return train->ranks / (of_accumulate < train->ranks ? of_accumulate : train->ranks);
}

typedef struct {
    bool present;
    Span span;
    int64_t every;
    Unit every_unit;
    int64_t size[AXES]; /* 0: the input's */
    int64_t batch;
    bool at_original; /* the command `eval` measures at the size that pictures have in their files */
    Span at_span;
} EvalSection;

/* Windows that are blended, or mirrored; the same as UnetWindows. */
typedef struct {
    bool given;      /* the file asks for them: all that is predicted goes by windows */
    int64_t most[2]; /* height and width of volumes for whose slices the arena has room; 0: none */
    double overlap;
    bool gaussian;
    unsigned mirror; /* bit 0 depth, 1 height, 2 width */
    Span span;
} Windows;

enum { MOST_REGIONS = 64 };

/* Channels of an output that are regions, written as one map of classes. */
typedef struct {
    int count; /* 0: there are none */
    int32_t class[MOST_REGIONS];
    double above;
    Span span;
} Regions;

typedef struct {
    int64_t size[AXES];
    int64_t batch;
    Pad pad;
    Span pad_span;
    Windows windows;
    Regions regions;
} PredictSection;

typedef struct {
    Pool *pool;
    Diag *diag;
    const char *name;   /* file name without folder and suffix, as a C name */
    const char *source; /* file name without folder */
    const char *text;   /* the whole source */
    Graph *graph;       /* forward: everything the file says, in order */
    Input *input;
    int ninput;
    Table input_of; /* from names to elements of `input`, the first of each name */
    Output *output;
    int noutput;
    Result *result;
    int nresult;
    DataSection data, eval_data;
    Diffusion diffusion;
    TrainSection train;
    EvalSection eval;
    PredictSection predict;
} Model;

#endif
