/* dataset_reading.h - one sample on its way from its files into the inputs; private to
 *     dataset_read.c  which reads samples row by row
 *     dataset_measure.c  which reads whole files
 *     dataset_warp.c  which reads those whose window is scaled, turned, bent or coloured
 *     dataset_turn.c  which scales and turns windows of volumes */
#ifndef UNET_DATASET_READING_H
#define UNET_DATASET_READING_H

#include "dataset_parts.h"
#include "raster.h"
#include "unet/rng.h"
#include "warp.h"
#include "window.h"

/* One file of the sample: kept, or being decoded. */
typedef struct {
    const CachedFile *kept;
    UnetImageReader *reader;
} OpenFile;

/* A window of a volume that is turned or scaled: its point FROM, counted from its middle, shows the place
 * middle + m from of the volume (depth, height, width; voxel k has its middle at k). */
typedef struct {
    bool turns;
    double m[3][3], middle[3];
} Turn;

/* The eight voxels around a place, -1 for one that lies beside the volume, their weights, and the sum of
 * the weights of the voxels inside. */
enum { CORNERS = 8 };
typedef struct {
    int64_t voxel[CORNERS];
    float weight[CORNERS], inside;
} Corners;

/* The working memory of one thread. */
typedef struct {
    OpenFile *file; /* one per series */
    float *value;   /* of the sources: one row each, OPERAND_ROW apart */
    float *operand; /* operands of an expression above the first */
    float *normal;  /* one row, on its way into an input that is normalised */
    float *fill;    /* of each channel, beside the file */
    size_t operand_row;
    int32_t *map[3];  /* what the window shows: rows, columns, slices */
    int32_t *nowhere; /* a column map of nothing but fill */
    int32_t *beside;  /*   and of nothing but fill beside the file */
    char *border;
    float *plane; /* of volumes that are blurred: a row for each row or slice of the window */
    /* of volumes that are turned: of each point of a row, and a map of it for labels */
    Corners *corners;
    int32_t *labelled;
    /* of a warped sample: */
    Raster *raster; /* one per series */
    uint8_t *decoded;
    float *picture, *degraded, *lines;
    double (*from)[2]; /* where each point of a row comes from */
} Scratch;

/* One sample on its way. */
typedef struct {
    const UnetDataset *dataset;
    const Sample *sample;
    Scratch scratch;
    UnetImageMemory *memory; /* of decoders, or NULL */
    FileWindow window;       /* in points of the coarsest files */
    bool ignores;            /* labels beside the file count nowhere */
    UnetKey key;
    Warp warp;                /* where dataset->warps */
    Turn turn;                /* where dataset->volumes */
    int32_t multiple;         /* of the files of this pass; what follows counts their points */
    int32_t size[2];          /* of the window */
    int32_t row, slice;       /* of the file, now */
    int32_t into;             /* slice of the window that is filled */
    int32_t begin[2], end[2]; /* of the file, needed */
    void *const *inputs;
    int32_t n;
    UnetError *error;
} Reading;

/* The next part of COUNT elements of SIZE bytes starts at *PART; false when the sizes overflow. */
UNET_MUST_USE bool scratch_reserve(ScratchPlan *plan, size_t *part, size_t count, size_t size);

/* Columns of the row that sources are evaluated for. */
int32_t reading_columns(const Reading *at);

/* Whether point (Y, X) of the window lies beside the file; for a warped picture the source of the row is
 * known. */
bool reading_is_beside(const Reading *at, int32_t y, int32_t x);

/* Whether source INDEX is read in this pass. */
bool reading_reads(const Reading *at, int32_t index);

/* Opens the files of the pass, each in front of row begin[0] unless it is kept; closes them. */
UNET_MUST_USE UnetStatus reading_open(Reading *at);
void reading_close(Reading *at);

/* Evaluates source INDEX for the row. */
UNET_MUST_USE UnetStatus reading_evaluate(const Reading *at, int32_t index);

/* Row Y of the window for the input that SOURCE fills, from VALUE by the column map MAP.  An input smaller
 * than the window shows its centre. */
void reading_store(const Reading *at, const UnetSource *source, int32_t y, const float *value,
                   const int32_t *map);

/* The parts of a thread's working memory. */
Scratch scratch_at(const ScratchPlan *plan, char *base);

/* ---- dataset_volume.c ---- */

/* Row (slice, row) of the files of a term, the channels side by side. */
void volume_push(const Reading *at, int32_t series, int32_t channel, float *operand);

/* Returns the numbers that normalise SOURCE in this sample, or NULL. */
const UnetNormal *reading_normal(const Reading *at, const UnetSource *source);

/* Reads all sources, of volumes. */
UNET_MUST_USE UnetStatus volume_read(Reading *at);

/* ---- dataset_intensity.c ---- */

enum { VOLUME_MOST_BLUR = 8 }; /* standard deviation, in voxels */

/* Noise, blur, brightness, contrast and gamma of volumes that were read, and are no targets. */
void volume_change(const Reading *at);

/* Plans what that needs besides; false when the sizes overflow. */
UNET_MUST_USE bool volume_plan_scratch(UnetDataset *dataset);

/* ---- dataset_mask.c ---- */

/* VALUE, of the row's columns, which NORMAL brought here, beside the mask of SOURCE's volume. */
void mask_row(const Reading *at, int32_t source, const UnetNormal *normal, float *value);

/* The whole window, once its numbers are changed. */
void mask_window(Reading *at, int32_t source);

/* ---- dataset_turn.c ---- */

/* Draws what the window, whose place is known, is turned, scaled and mirrored by. */
void turn_draw(Reading *at);

/* Finds the voxels that row (slice, row) of the window shows, and the points of the row that show any. */
void turn_row(const Reading *at);

/* Pushes the numbers that the file of a term has there, and for labels the points that show some. */
void turn_push(const Reading *at, int32_t series, float *operand);

/* INTO: VALUE of each point as far as it shows voxels, and FILL of each channel for the rest. */
void turn_blend(const Reading *at, int32_t channels, const float *fill, const float *value, float *into);

/* Plans what that needs besides; false when the sizes overflow. */
UNET_MUST_USE bool turn_plan_scratch(UnetDataset *dataset);

/* ---- dataset_border.c ---- */

/* Plans what border_weight() needs besides; false when the sizes overflow. */
UNET_MUST_USE bool border_plan_scratch(UnetDataset *dataset);

/* Fills the inputs of such sources from the labels of the sample, which are there. */
void border_store(const Reading *at);

/* ---- dataset_words.c ---- */

/* Hides words in their input and fills the targets that tell words. */
void words_store(const Reading *at);

/* ---- dataset_missing.c ---- */

/* Labels at missing numbers of the window count nowhere; missing numbers are 0. */
void missing_settle(const Reading *at);

/* ---- dataset_warp.c ---- */

/* Plans what warped samples need besides; false when the sizes overflow. */
UNET_MUST_USE bool warp_plan_scratch(UnetDataset *dataset);

/* Reads all sources of the pass; size and map[1] belong to the whole window. */
UNET_MUST_USE UnetStatus warp_read(Reading *at);

/* The row of the window that file SERIES fills, classes as they stand in the file. */
void warp_push(const Reading *at, int32_t series, float *operand);

#endif
