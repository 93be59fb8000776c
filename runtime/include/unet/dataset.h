/* dataset.h - the samples a model is trained and evaluated on.
 *
 * Opening a dataset expands the patterns of the `data` or `eval` section, matches files by what stands for
 * their stars, sorts the samples by it and reads every header, so that a missing partner, an empty match, a
 * file of the wrong size or one cut short is known before the first step.  Reading a sample decodes its
 * files side by side, row by row, evaluates the sources, cuts the window and flips it on the way into the
 * program's layout: memory is a few rows per thread, whatever the size of the files, and a small cache.
 *
 * A sample is a function of (dataset, sample, seed, epoch) alone; in evaluation of the sample alone.
 */
#ifndef UNET_DATASET_H
#define UNET_DATASET_H

#include "unet/atomic_file.h"
#include "unet/image.h"
#include "unet/model.h"
#include "unet/status.h"

typedef enum {
    UNET_TRAINING,  /* `data` without its holdout, for model->train */
    UNET_EVALUATION /* the sources of `eval`, or the holdout of `data`, for model->eval */
} UnetPurpose;

typedef struct UnetDataset UnetDataset;

/* Called with a problem of a file, or with a note: one line each. */
typedef void UnetProblemReport(void *context, const UnetError *problem);
typedef void UnetNote(void *context, const char *note);

/* The place of the data. */
typedef struct {
    const char *folder; /* relative patterns start here */
    const char *cache;  /* folder for the files into which volumes are decoded; NULL: beside the volumes */
    int32_t fold;   /* the fold that is held out, if the model's file splits the data into folds; a number
                       from their count on holds out a fifth of the samples, drawn for the number */
    bool own_size;  /* pictures are not resized, whatever the model's file says */
    UnetNote *note; /* called when volumes have been decoded; NULL: nobody is told */
    /* If not NULL: every file is decoded when the data is opened, and a sample with a problem is left out
     * and told to `skip`.  NULL: the first problem ends the call that met it. */
    UnetProblemReport *skip;
    void *context; /* of both */
} UnetDataPlace;

static inline UnetDataPlace unet_in_folder(const char *folder) {
    return (UnetDataPlace){.folder = folder};
}

/* Returns whether the model has data for PURPOSE and a program to use it. */
bool unet_dataset_exists(const UnetModel *model, UnetPurpose purpose);

/* Opens the data of MODEL.  Volumes are decoded now, unless their cache files are there.
 *
 * Without `crop`, files must have the size of the program.  With it, a file smaller than the window is
 * padded as its `pad` says.  Without `pad`, pictures are reflected and volumes padded with their mean;
 * labels of the padding do not count.  Evaluation always pads a smaller file behind its last row and
 * column, by reflection unless `crop` says how, and unet_dataset_read() reports the valid part.
 *
 * An input s times as large as the first input needs files s times as large.  An input s times smaller
 * takes files s times smaller, or the centre of files as large as those for the first input.
 *
 * On failure *DATASET is NULL.  MODEL must outlive the dataset. */
UNET_MUST_USE UnetStatus unet_dataset_open(UnetDataset **dataset, const UnetModel *model,
                                           UnetPurpose purpose, UnetDataPlace place, UnetError *error);
/* The same for evaluation on all samples that the sources find, without a holdout. */
UNET_MUST_USE UnetStatus unet_dataset_open_evaluation(UnetDataset **dataset, const UnetModel *model,
                                                      UnetDataPlace place, UnetError *error);
void unet_dataset_close(UnetDataset *dataset); /* NULL is fine */

UnetPurpose unet_dataset_purpose(const UnetDataset *dataset);
const UnetProgram *unet_dataset_program(const UnetDataset *dataset);
int32_t unet_dataset_samples(const UnetDataset *dataset);

/* Returns the text for the stars in the files of SAMPLE: "03", or "scene/03" for two stars.  If the data
 * has several folders, it is the name of the sample's first file. */
const char *unet_dataset_stem(const UnetDataset *dataset, int32_t sample);

/* Returns the name of the file of SAMPLE for the first input: "noisy/03.png".  It is relative to the folder
 * of the data if the pattern is. */
const char *unet_dataset_name(const UnetDataset *dataset, int32_t sample);

/* Writes to PATH the file for INPUT of SAMPLE; another source may read the file for the input.  UNET_IO:
 * the input comes from no file.  If each channel of a volume has a file, it is the file of the first
 * channel. */
UNET_MUST_USE UnetStatus unet_dataset_file(const UnetDataset *dataset, int32_t sample, int32_t input,
                                           char path[UNET_PATH_BYTES], UnetError *error);

/* Pictures only: writes to SIZE height and width of the whole SAMPLE, in points of the first input. */
void unet_dataset_picture_size(const UnetDataset *dataset, int32_t sample, int32_t size[2]);

/* Volumes only: writes to SIZE the voxels along depth, height and width, after resampling. */
void unet_dataset_volume_size(const UnetDataset *dataset, int32_t sample, int32_t size[3]);
/* Volumes only: writes to ROW the classes, or UNET_IGNORED, of row (Z, Y) of INPUT, which is labels. */
UNET_MUST_USE UnetStatus unet_dataset_classes(const UnetDataset *dataset, int32_t sample, int32_t input,
                                              int32_t z, int32_t y, float *row, UnetError *error);

/* Return the bytes of a reading thread: its scratch memory, and the most that its decoders allocate beside.
 */
size_t unet_dataset_scratch_bytes(const UnetDataset *dataset);
size_t unet_dataset_decoder_bytes(const UnetDataset *dataset);
/* Returns the bytes of the decoded files that a training set keeps: the first samples, up to 12 MiB. */
size_t unet_dataset_cache_bytes(const UnetDataset *dataset);

/* Sets NORMAL, one per input of the model, for the normalised inputs; it must outlive the dataset.  Without
 * this call the numbers of the model's file are used, and inputs whose numbers are to be measured are not
 * normalised. */
void unet_dataset_normalize(UnetDataset *dataset, const UnetNormal *normal);

/* Measures, over all points of all files, the mean and deviation of each input that is to be measured;
 * changes nothing else of NORMAL, which has one per input of the model. */
UNET_MUST_USE UnetStatus unet_dataset_measure(const UnetDataset *dataset, UnetNormal *normal,
                                              UnetError *error);

/* Reads sample SAMPLE as number N of a batch of BATCH.  With `crop foreground`, N and BATCH decide whether
 * its window lies around a voxel of a class above 0: in a batch of B samples the last B - round(B (1 -
 * share)) do.
 *
 * INPUTS: one per model input, the batch in the program's layout, whose halo and padding channels the
 * caller has zeroed; NULL for inputs that the program does not read.  SCRATCH: unet_dataset_scratch_bytes()
 * bytes, aligned to 64.  MEMORY: of decoders, kept from sample to sample; may be NULL.  VALID gets the
 * points along each axis that are image and not padding, of the tensors that losses and metrics compare;
 * all 0: they compare several sizes.  Several threads may read at once, each with its own scratch and N. */
UNET_MUST_USE UnetStatus unet_dataset_read(const UnetDataset *dataset, int32_t sample, uint64_t seed,
                                           uint32_t epoch, void *scratch, UnetImageMemory *memory,
                                           void *const *inputs, int32_t n, int32_t batch, int32_t valid[3],
                                           UnetError *error);

/* Tells NOTE the files that are read in a way that may surprise: alpha is dropped, grey fills three
 * channels, a picture is not turned, or a file is left out for upper or lower case in its ending. */
void unet_dataset_notes(const UnetDataset *dataset, UnetNote *note, void *context);

/* The counts of unet_check_data(). */
typedef struct {
    int64_t samples[2]; /* by purpose */
    int64_t files;
    int64_t problems;
} UnetDataCheck;
/* The command check-data: decodes every file of the model's data to its end.  Tells REPORT every problem,
 * and NOTE (NULL: nobody) the classes that files of labels hold.  Fails only if it cannot go on. */
UNET_MUST_USE UnetStatus unet_check_data(const UnetModel *model, UnetDataPlace place,
                                         UnetProblemReport *report, UnetNote *note, void *context,
                                         UnetDataCheck *check, UnetError *error);

#endif
