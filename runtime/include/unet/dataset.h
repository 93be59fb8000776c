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

/* Hears of a problem with a file, or of something else, in one line. */
typedef void UnetProblemReport(void *context, const UnetError *problem);
typedef void UnetNote(void *context, const char *note);

/* Where data lies: FOLDER, where relative patterns start; CACHE, the folder of files into which volumes are
 * decoded, or NULL: beside the volumes.  NOTE (NULL: nobody) hears that it is done.  FOLD: which one is
 * held out, where the model's file splits the data into such; from their number on, a fifth that is drawn
 * for it.  SKIP: every file is decoded when the data is opened, samples with a problem are left out, and
 * SKIP hears of each; NULL: the first problem that is met ends what is being done.  OWN_SIZE: pictures are
 * not resized, whatever the model's file says. */
typedef struct {
    const char *folder, *cache;
    int32_t fold;
    bool own_size;
    UnetNote *note;
    UnetProblemReport *skip;
    void *context; /* of both */
} UnetDataPlace;

static inline UnetDataPlace unet_in_folder(const char *folder) {
    return (UnetDataPlace){.folder = folder};
}

/* Whether the model has data for PURPOSE and a program to use it. */
bool unet_dataset_exists(const UnetModel *model, UnetPurpose purpose);

/* Volumes are decoded now, unless their cache files are there.  Sizes: without `crop`, those of the program
 * exactly; with it, files that are smaller than the window are padded as its `pad` says, or, without it,
 * pictures by reflection and volumes by their mean, where labels then count nowhere.  In evaluation a
 * smaller file is always padded (by reflection, unless `crop` says how) behind its last row and column, and
 * READ reports the valid part. An input s times as large as the first one needs files s times as large; an
 * input s times smaller takes files s times smaller, or shows the centre of files as large as the first
 * one's. On failure *DATASET is NULL.  MODEL must outlive the dataset. */
UNET_MUST_USE UnetStatus unet_dataset_open(UnetDataset **dataset, const UnetModel *model,
                                           UnetPurpose purpose, UnetDataPlace place, UnetError *error);
/* Evaluation on all samples that the sources find there, whatever is held out elsewhere. */
UNET_MUST_USE UnetStatus unet_dataset_open_evaluation(UnetDataset **dataset, const UnetModel *model,
                                                      UnetDataPlace place, UnetError *error);
void unet_dataset_close(UnetDataset *dataset); /* NULL is fine */

UnetPurpose unet_dataset_purpose(const UnetDataset *dataset);
const UnetProgram *unet_dataset_program(const UnetDataset *dataset);
int32_t unet_dataset_samples(const UnetDataset *dataset);

/* What stands for the stars in the files of SAMPLE: "03", or "scene/03" for two stars; where there are
 * several folders, the name of the first of its files. */
const char *unet_dataset_stem(const UnetDataset *dataset, int32_t sample);

/* What the file of SAMPLE is called that fills the first input: "noisy/03.png", relative to the folder of
 * the data where its pattern is. */
const char *unet_dataset_name(const UnetDataset *dataset, int32_t sample);

/* The file from which input INPUT of SAMPLE comes, itself or by way of other sources; fails with UNET_IO
 * where none does.  Of a volume with several channels it is that of the first. */
UNET_MUST_USE UnetStatus unet_dataset_file(const UnetDataset *dataset, int32_t sample, int32_t input,
                                           char path[UNET_PATH_BYTES], UnetError *error);

/* Of pictures: height and width of all of SAMPLE, in points of the first input. */
void unet_dataset_picture_size(const UnetDataset *dataset, int32_t sample, int32_t size[2]);

/* Of volumes: how many voxels a sample has along depth, height and width, resampled where the model says
 * so; and the classes, or UNET_IGNORED, of row (Z, Y) of those that fill INPUT, which is labels. */
void unet_dataset_volume_size(const UnetDataset *dataset, int32_t sample, int32_t size[3]);
UNET_MUST_USE UnetStatus unet_dataset_classes(const UnetDataset *dataset, int32_t sample, int32_t input,
                                              int32_t z, int32_t y, float *row, UnetError *error);

/* Of one reading thread: its working memory, and the most bytes that its decoders allocate besides. */
size_t unet_dataset_scratch_bytes(const UnetDataset *dataset);
size_t unet_dataset_decoder_bytes(const UnetDataset *dataset);
/* Of the decoded files that a training set keeps: those of the first samples, up to 12 MiB. */
size_t unet_dataset_cache_bytes(const UnetDataset *dataset);

/* Inputs that are normalised are read by NORMAL, one per input of the model, which must outlive the
 * dataset; without this call, by what the model's file says, and those that are to be measured as they are.
 */
void unet_dataset_normalize(UnetDataset *dataset, const UnetNormal *normal);

/* Measures, over all points of all files, the mean and deviation of each input that is to be measured;
 * changes nothing else of NORMAL, which has one per input of the model. */
UNET_MUST_USE UnetStatus unet_dataset_measure(const UnetDataset *dataset, UnetNormal *normal,
                                              UnetError *error);

/* Reads sample SAMPLE as number N of a batch of BATCH; both count where a share of windows is to be around
 * what is of a class above 0: of a batch of B samples the last B - round(B (1 - share)) are.  INPUTS: one
 * per model input, the batch in the program's layout, whose halo and padding channels the caller has
 * zeroed; NULL for inputs the program does not read. SCRATCH: unet_dataset_scratch_bytes, aligned to 64.
 * MEMORY: of decoders, kept from sample to sample; may be NULL.  VALID: how many points of each axis are
 * image, of those that losses and metrics compare (all 0: they compare several sizes).  Several threads may
 * read at once, each with its own scratch and N. */
UNET_MUST_USE UnetStatus unet_dataset_read(const UnetDataset *dataset, int32_t sample, uint64_t seed,
                                           uint32_t epoch, void *scratch, UnetImageMemory *memory,
                                           void *const *inputs, int32_t n, int32_t batch, int32_t valid[3],
                                           UnetError *error);

/* Tells NOTE which files are not read as one may expect: alpha dropped, grey in three channels, not turned,
 * or left out for the case of their ending. */
void unet_dataset_notes(const UnetDataset *dataset, UnetNote *note, void *context);

/* What check-data does: goes through all data of the model, decodes every file to its end and tells REPORT
 * about every problem instead of stopping at the first, and NOTE (NULL: nobody) what the files of labels
 * hold.  Fails only where it cannot go on. */
typedef struct {
    int64_t samples[2]; /* by purpose */
    int64_t files;
    int64_t problems;
} UnetDataCheck;
UNET_MUST_USE UnetStatus unet_check_data(const UnetModel *model, UnetDataPlace place,
                                         UnetProblemReport *report, UnetNote *note, void *context,
                                         UnetDataCheck *check, UnetError *error);

#endif
