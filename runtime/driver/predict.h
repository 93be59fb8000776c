/* predict.h - between predict.c, the command, and predict_image.c, one image, or predict_volume.c, one
 * volume. */
#ifndef PREDICT_H
#define PREDICT_H

#include "driver.h"

#include "unet/image.h"
#include "unet/resample.h"
#include "unet/volume.h"
#include "unet/voxels.h"

/* Takes what prediction by windows makes in place of files: the means, or classes, of slice Z of channel C
 * of output I, on the model's grid. */
typedef struct SliceTaker {
    UnetStatus (*take)(struct SliceTaker *taker, int i, int32_t c, int32_t z, const float *slice,
                       UnetError *error);
} SliceTaker;

/* Takes the rows of an output. */
typedef struct RowTaker {
    UnetStatus (*take)(struct RowTaker *taker, const float *row, UnetError *error);
} RowTaker;

/* predict_restore.c: brings rows of an output of size FROM to size TO; the height, the width, the channels
 * and whether they are classes (`palette`) count.  *RESTORE is closed whatever the status. */
typedef struct Restore Restore;
UNET_MUST_USE UnetStatus restore_open(Restore **restore, const UnetImageInfo *from, const UnetImageInfo *to,
                                      RowTaker *taker, UnetError *error);
void restore_close(Restore *restore); /* NULL is fine */
/* The next row; TAKER gets none, one or more of the result. */
UNET_MUST_USE UnetStatus restore_put(Restore *restore, const float *row, UnetError *error);

/* The place that rows of an output are written to. */
typedef struct {
    RowTaker taker;          /* of rows that are restored */
    UnetImageWriter *writer; /* of the file */
    Restore *restore;        /* NULL: rows are written as they come */
} OutputFile;

typedef struct {
    Driver *driver;
    const UnetProgram *program;
    int input; /* the one input that prediction reads */
    Device device;
    Device *lent;        /* it runs in the memory of this, and `device` is a copy; NULL: it takes its own */
    char *staged;        /* one sample of it, where the arena does not hold it; else NULL */
    const void **inputs; /* one per input of the model */
    float *row;          /* of an input or output */
    float *normal;       /* a row of the input, normalised */
    int32_t *from;       /* point x of a padded row is point from[x] of the image */
    OutputFile *file;    /* one per output of the model */
    uint32_t told;       /* what was told already: traits of images (unet/image.h), and TOLD_BITS */
    bool volumes;        /* not images */
    bool into_folder;
    bool normalized;   /* rows come as the input has them, and not as in files */
    SliceTaker *taker; /* of volumes, which then all go by windows: no files are written; or NULL */
    bool by_windows;   /* the volume on its way goes so */
} Prediction;

/* Ends of a prediction that is made of no file and goes into none. */
typedef struct Ends {
    /* The next row of the image, planar. */
    UnetStatus (*read)(struct Ends *ends, float *row, UnetError *error);
    /* The next row of output I. */
    UnetStatus (*write)(struct Ends *ends, int i, const float *row, UnetError *error);
} Ends;

/* How images are read: as the images of the data from which the network was trained. */
const UnetImageWay *prediction_way(const Prediction *prediction);

/* Whether outputs get the size that the picture has in its file, which was resized for the network. */
bool prediction_restores(const Prediction *prediction);

/* The place of the rows of the input. */
char *prediction_input(const Prediction *prediction);

/* The least size of an image of HERE points, along an axis of COMPILED points, that the network is likely
 * to take: of as many halvings as the compiled one allows, at most five. */
int64_t prediction_size_like(int32_t here, int32_t compiled);

/* Takes the memory that images go through; prediction_close() gives back what there is of it. */
UNET_MUST_USE UnetStatus prediction_open(Prediction *prediction);
void prediction_close(Prediction *prediction);

/* predict.c: whether the model makes images of one image; finds its input. */
UNET_MUST_USE UnetStatus prediction_check(Prediction *prediction);

/* An image of HEIGHT x WIDTH from and to these ends, and what output I of it looks like. */
UNET_MUST_USE UnetStatus predict_rows(Prediction *prediction, int32_t height, int32_t width, Ends *ends);
UnetImageInfo predicted_shape(Prediction *prediction, int32_t height, int32_t width, int i);

/* The program for an image of the compiled size: how a step is called, and the rows of the input and of
 * output I that one brings and takes; without bands all of them are one. */
UnetStep prediction_step(const Prediction *prediction);
UnetBand prediction_input_band(const Prediction *prediction);
UnetBand prediction_output_band(const Prediction *prediction, int i);

/* predict_tiles.c: an image of any size by windows; LISTENS: a signal ends it, else the caller looks.  And
 * whether what they make is what the whole image would, and to how many points an image of SIZE is padded,
 * along AXIS, 0 height or 1 width. */
UNET_MUST_USE UnetStatus predict_tiles(Prediction *prediction, int32_t height, int32_t width, Ends *ends,
                                       bool listens);
bool tiles_are_exact(const UnetProgram *program);
int32_t tiles_padded(const UnetProgram *program, int axis, int32_t size);
/* Bytes beside the arena while an image of WIDTH goes by windows. */
int64_t tiles_bytes(const UnetModel *model, int32_t width);

/* Whether the program takes an image of the size of file IN.  Only predict_image() tells of a pipe, or of
 * anything else that is no file. */
UNET_MUST_USE UnetStatus prediction_check_size(const Prediction *prediction, const char *in);

/* Takes the image IN through the model and writes each output, or, on failure, none. */
UNET_MUST_USE UnetStatus predict_image(Prediction *prediction, const char *in);

/* predict_volume.c: whether the model makes volumes of one volume, as large; whether IN is a volume;
 * whether all of it can be read; takes it through the model and writes each output, or, on failure, none.
 * If a channel has a file of its own, IN is the file of the first, whose name has "_0000". */
UNET_MUST_USE UnetStatus prediction_check_volume(const Prediction *prediction);
UNET_MUST_USE UnetStatus prediction_check_volume_size(const Prediction *prediction, const char *in);
UNET_MUST_USE UnetStatus prediction_read_volume(const char *in, UnetError *error);
UNET_MUST_USE UnetStatus predict_volume(Prediction *prediction, const char *in);

/* The same by windows that overlap, for files or for prediction->taker: predict_windows.c.  And the bytes
 * that slices of HEIGHT x WIDTH take beside the arena. */
UNET_MUST_USE UnetStatus predict_windows(Prediction *prediction, const char *in);
int64_t windows_bytes(const UnetModel *model, int32_t height, int32_t width);

/* predict_volume.c, for both: to which grid volumes are resampled; the file of channel C, whose first is
 * IN; what lies beside a volume that is normalised by NORMAL, or by nothing (NULL). */
UnetSampling volume_sampling(const Prediction *prediction);
UNET_MUST_USE UnetStatus volume_channel(const Prediction *prediction, const char *in, int32_t c,
                                        char path[UNET_PATH_BYTES]);
void volume_fill(const Prediction *prediction, const UnetNormal *normal, float fill[UNET_MOST_NORMALIZED]);

/* And: how the input is normalised; by what these channels are, or NULL, EACH having room for their own;
 * the box that is predicted of them where the model trims; zeros to the COUNT points from voxel AT on that
 * are normalised and beside the mask, channels STRIDE apart; and whether SIZE is not too large. */
UnetNormalizing normalizing_of(const Prediction *prediction);
const UnetNormal *volume_normal(const Prediction *prediction, const UnetVoxels *channel, int32_t channels,
                                UnetNormal *each);
void volume_trim(const UnetVoxels *channel, int32_t channels, int32_t begin[3], int32_t size[3]);
void volume_mask_row(const Prediction *prediction, const UnetVoxels *channel, int32_t channels,
                     const int32_t at[3], int32_t count, size_t stride, float *row);

/* predict_result.c: the file of an output, and the resampler of slices from the model's grid to the file's.
 */
typedef struct {
    UnetVolumeWriter *writer;
    UnetResampler **resampler; /* of each channel; NULL: the grids are one */
    int32_t channels;
    int32_t size[3]; /* of the file */
    size_t points;   /*   of one of its slices */
    float *slice;    /*   room for it, with resamplers */
    bool streamed;   /* slices of all channels come together, else channel by channel */
} VolumeResult;

/* The file of output I of IN, in the geometry of LIKE; slices come on a grid of SIZE, z, y, x.  RESULT is
 * all zeros before, and volumes_end() is called after, whatever the status. */
UNET_MUST_USE UnetStatus volume_create(const Prediction *prediction, const char *in, int i,
                                       const UnetVolumeInfo *like, const int32_t size[3],
                                       VolumeResult *result);
/* Whether output I is regions that are written as one map; and its class where channels have VALUE, STRIDE
 * apart. */
bool predicts_regions(const Prediction *prediction, int i);
float region_at(const Prediction *prediction, const float *value, size_t stride);

/* The next slice of CHANNEL. */
UNET_MUST_USE UnetStatus volume_write(VolumeResult *result, int32_t channel, const float *slice,
                                      UnetError *error);
/* The end of the files of all outputs, which go where they belong, or, after a failure or a signal,
 * nowhere. */
UNET_MUST_USE UnetStatus volumes_end(const Prediction *prediction, const char *in, VolumeResult *result,
                                     UnetStatus status);

/* overlay.c: the picture of these classes over the image that they were predicted for, beside the former.
 */
UNET_MUST_USE UnetStatus write_overlay(const char *image, const UnetImageWay *way, const char *classes,
                                       UnetError *error);

/* predict.c: what the command could read, as a word for a shell: a file of DATA, or where the program does
 * not take its size a name with its ending; "": the model does not make images or volumes of one. */
void prediction_example(Driver *driver, const UnetDataset *data, char *word, size_t size);

/* predict.c: where output I of the model goes, for the image IN. */
UNET_MUST_USE UnetStatus output_path(const Prediction *prediction, const char *in, int i,
                                     char path[UNET_PATH_BYTES]);

#endif
