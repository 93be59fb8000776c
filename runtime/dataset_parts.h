/* dataset_parts.h - what a dataset consists of; private to dataset.c, which builds it, dataset_match.c,
 * which finds its files, dataset_read.c, which reads samples, and dataset_check.c, which looks for
 * problems. */
#ifndef UNET_DATASET_PARTS_H
#define UNET_DATASET_PARTS_H

#include "unet/dataset.h"
#include "unet/image.h"
#include "pattern.h"

enum { MAX_SOURCES = 256, MAX_TERMS = 256 }; /* they share the number of a random stream */

/* The files of one UNET_SRC_FILES term, one per sample. */
typedef struct {
    const char *pattern;
    int32_t channels;
    UnetReadMode mode;
} FileSeries;

typedef struct {
    int32_t stem;    /* index in the sorted stems of all matched files */
    int32_t size[2]; /* of its files: height, width */
} Sample;

/* Where the parts of a reading thread's working memory start, in bytes; see dataset_read.c. */
typedef struct {
    size_t readers, file_row, values, operands, maps[2], nowhere;
    size_t row; /* floats of one row of the widest source */
    size_t bytes;
} ScratchPlan;

struct UnetDataset {
    const UnetModel *model;
    const UnetProgram *program;
    UnetPurpose purpose;
    const UnetSource *source;
    int32_t nsource;
    const UnetTransform *transform;
    int32_t ntransform;
    char *folder;
    StemList stems;
    FileSeries *series; /* in the order in which sources and terms name them */
    int32_t nseries;
    Sample *sample;
    int32_t nsample;
    int32_t channels;  /* of the widest source */
    int32_t depth;     /* the most operands that an expression holds at once */
    int32_t max_width; /* of any file */
    size_t decoder_bytes;
    ScratchPlan scratch;
};

/* Who hears of problems.  With no listener (NULL) the first one ends what is being done. */
typedef struct {
    UnetProblemReport *report;
    void *context;
    int64_t count;
} Listener;

/* ERROR holds a problem: passes it on and returns UNET_OK, or STATUS where nobody listens. */
UNET_MUST_USE UnetStatus dataset_problem(Listener *listener, UnetStatus status, const UnetError *error);

/* As unet_dataset_open; with HOLDOUT false the training samples include those held out. */
UNET_MUST_USE UnetStatus dataset_open(UnetDataset **dataset, const UnetModel *model, UnetPurpose purpose,
                                      const char *folder, bool holdout, Listener *listener,
                                      UnetError *error);

/* Fills dataset->stems from the patterns of dataset->series. */
UNET_MUST_USE UnetStatus dataset_match(UnetDataset *dataset, Listener *listener, UnetError *error);

/* The path of the file of SERIES that belongs to a sample. */
UNET_MUST_USE UnetStatus dataset_path(const UnetDataset *dataset, const FileSeries *series,
                                      const Sample *sample, char path[UNET_PATH_BYTES], UnetError *error);

/* Fills dataset->scratch; false when the sizes overflow. */
UNET_MUST_USE bool dataset_plan_scratch(UnetDataset *dataset);

#endif
