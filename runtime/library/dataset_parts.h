/* dataset_parts.h - what a dataset consists of; private to
 *     dataset.c        which builds it
 *     dataset_match.c  which finds the files that belong together
 *     dataset_partner.c which names the missing files
 *     dataset_list.c   which reads lists of them
 *     dataset_scale.c  which finds out how fine they are
 *     dataset_probe.c  which reads their headers
 *     dataset_cache.c  which keeps the decoded files of small sets
 *     dataset_read.c   which reads samples
 *     dataset_measure.c which measures what inputs are normalised by
 *     dataset_fingerprint.c which measures the voxels of classes above 0
 *     dataset_warp.c   which reads samples that are scaled, turned, bent or coloured
 *     dataset_labels.c which makes classes of the numbers in files
 *     dataset_colours.c which knows the colours of classes
 *     dataset_missing.c which knows what to do where there is no number
 *     dataset_border.c which makes weights of classes
 *     dataset_words.c  which hides words, and tells them
 *     dataset_folder.c which takes the class of a sample from the name of a folder
 *     dataset_volume.c which decodes volumes, and reads samples of them
 *     dataset_turn.c   which turns and scales their windows
 *     dataset_intensity.c which changes the numbers of their voxels
 *     dataset_decode.c which does so several at a time
 *     dataset_geometry.c which describes them
 *     dataset_json.c   which knows what nnU-Net's dataset.json says of them
 *     dataset_check.c  which looks for problems */
#ifndef UNET_DATASET_PARTS_H
#define UNET_DATASET_PARTS_H

#include "unet/dataset.h"
#include "unet/image.h"
#include "unet/rng.h"
#include "pattern.h"
#include "unet/voxels.h"

enum { MAX_SOURCES = 256, MAX_TERMS = 256 }; /* they share the number of a random stream */

/* The files of one UNET_SRC_FILES term, one per sample. */
typedef struct {
    const char *pattern;     /* of the first folder, */
    const char *const *more; /* and of the others, as in UnetSourceTerm */
    int32_t channels;        /* or UNET_IMAGE_CLASSES, or UNET_IMAGE_COLOURS */
    int32_t source;          /* that reads it */
    UnetImageWay way;        /* in which it is read */
    const char *list;        /* that says what the stars stand for, or NULL: all files that there are */
    int32_t column; /* of the list called `pattern`, whose words name the files; 0: it is a pattern */
    StemList word;  /* what its files are called, one for each stem */
    bool coloured;  /* colours of its pictures are changed; else it fills no picture that is compared */
    int32_t found;  /* files of its patterns, */
    int32_t left[LEFT_REASONS];             /*   files that were left out, */
    char left_name[LEFT_REASONS][256];      /*   and one of these */
    int32_t highest;                        /* of its files */
    size_t widest;                          /* bytes of the longest row of one */
    int32_t files;                          /* whose header was read, */
    int32_t with[UNET_IMAGE_TRAITS];        /* and how many of them have a trait */
    int64_t strange;                        /* voxels that are not finite, */
    int64_t rounded;                        /*   and points of labels that were no whole numbers */
    char with_name[UNET_IMAGE_TRAITS][256]; /* of the first of these: as long as a file's name may be */
} FileSeries;

/* How fine the files of a source are; see dataset_scale.c. */
enum { ANY_MULTIPLE = 0 }; /* of a source without files that fills no input */
typedef struct {
    int32_t first_series;   /* of its own terms */
    int32_t series;         /* one that it reads, itself or through the sources it names; -1: none */
    int32_t times, divisor; /* points of its files for one of the first input's, along each axis */
    int32_t multiple;       /* points of its files for one of the coarsest files' */
} SourceScale;

/* The files of one pattern of a series, while they are paired. */
typedef struct {
    FileSeries *series;
    const char *pattern;
    int32_t stars;
    FoundList found;
    bool *used;              /* of each: a sample has it */
    const FoundFile **alike; /* sorted by dataset_partner.c, once it is asked */
} FileSide;

typedef struct {
    int32_t stem;    /* index in the sorted stems of all matched files */
    int32_t size[3]; /* of its coarsest files: height, width, depth; of volumes, of what of them is there */
    int32_t origin[3];  /*   and where that begins */
    size_t file_bytes;  /* of all its files, decoded */
    UnetVoxels *volume; /* of each series; NULL: of pictures */
    UnetNormal *each;   /* of each source, where every volume has its own */
} Sample;

/* Small training sets are decoded once: the files of the first samples, as many as fit, are kept as bytes.
 * Which ones is settled when the dataset is opened; each is filled by the first thread that reads it. */
enum { CACHE_BYTES = 12 << 20 };
typedef enum { CACHE_EMPTY, CACHE_FILLING, CACHE_READY } CacheState;

typedef struct {
    _Atomic int state; /* CacheState; guards the rest */
    UnetRowFormat format;
    uint8_t *rows; /* decoded */
} CachedFile;

typedef struct {
    CachedFile *file; /* of sample s and series i: file[s * nseries + i] */
    int32_t nsample;  /* kept samples: 0 to nsample - 1 */
    size_t bytes;     /* of all rows, once all are read */
} FileCache;

/* The starts, in bytes, of the parts of a reading thread's working memory; see dataset_read.c.  Only warped
 * samples have the parts from `rasters` on. */
typedef struct {
    size_t files, values, operands, normal, fill, maps[3], nowhere, beside;
    size_t border;            /* what sources that are border_weight() need */
    size_t plane;             /* of volumes that are blurred, */
    size_t corners, labelled; /* and of volumes that are turned */
    size_t rasters;           /* of each series: how its rows lie */
    size_t decoded;           /* rows of all series that are not kept, decoded */
    size_t pictures;          /* of all series whose colours are changed: what the window shows */
    size_t degraded;          /* of all inputs, where there is blur or noise */
    size_t lines;
    size_t from; /* where each point of a row comes from */
    size_t row;  /* floats of one row of the widest source */
    size_t bytes;
} ScratchPlan;

struct UnetDataset {
    const UnetModel *model;
    const UnetProgram *program;
    UnetPurpose purpose;
    const UnetSource *source;
    int32_t nsource;
    SourceScale *scale;        /* one per source */
    int32_t base[3];           /* of the window, in points of the coarsest files: height, width, depth */
    int32_t widest[2];         /* of the window, in points of the finest files */
    int32_t measured_multiple; /* points that losses and metrics compare, for one of the coarsest files' */
    const UnetTransform *transform;
    int32_t ntransform;
    const UnetNormal *normal; /* see unet_dataset_normalize; NULL: as the model's file says */
    bool warps;               /* training with transforms beyond `crop` and `flip`: see dataset_warp.c */
    bool volumes;             /* its files are volumes: see dataset_volume.c */
    bool several_folders;
    char *folder;
    char *cache_folder; /* of decoded volumes, or NULL: beside them */
    StemList stems;     /* stems of one folder after stems of another */
    uint16_t *
        *class_of; /* per source that fills labels: from the numbers in its files to classes; or NULL */
    int32_t *folder_class; /* of each stem for each source, where a source asks for it; NULL: none does */
    FileSeries *series;    /* in the order in which sources and terms name them */
    int32_t nseries;
    Sample *sample;
    int32_t nsample;
    int32_t channels; /* of the widest source */
    int32_t depth;    /* the most operands that an expression holds at once */
    size_t decoder_bytes;
    FileCache cache;
    ScratchPlan scratch;
};

/* Who hears of problems.  With no listener (NULL) the first problem ends the work. */
typedef struct {
    UnetProblemReport *report;
    void *context;
    int64_t count;
    bool decodes; /* opening decodes all files */
} Listener;

/* ERROR holds a problem: passes it on and returns UNET_OK, or STATUS where nobody listens. */
UNET_MUST_USE UnetStatus dataset_problem(Listener *listener, UnetStatus status, const UnetError *error);

/* As unet_dataset_open; with HOLDOUT false the training samples include those held out. */
UNET_MUST_USE UnetStatus dataset_open(UnetDataset **dataset, const UnetModel *model, UnetPurpose purpose,
                                      UnetDataPlace place, bool holdout, Listener *listener,
                                      UnetError *error);

/* Fills dataset->stems from the patterns of dataset->series. */
UNET_MUST_USE UnetStatus dataset_match(UnetDataset *dataset, Listener *listener, UnetError *error);

/* dataset_probe.c: whether SAMPLE may be smaller than the window, in training where `crop` says nothing of
 * that: a picture is padded by reflection, a volume by its mean, and labels count nowhere there. */
bool dataset_pads(const UnetDataset *dataset, const Sample *sample);

/* dataset_list.c: whether lists say which samples there are; fills dataset->stems from them. */
bool dataset_is_listed(const UnetDataset *dataset);
UNET_MUST_USE UnetStatus dataset_read_lists(UnetDataset *dataset, UnetError *error);

/* FILE of PRESENT has no partner of ABSENT: returns UNET_IO, or what else went wrong. */
UNET_MUST_USE UnetStatus dataset_missing_partner(const char *folder, const FileSide *present,
                                                 const FoundFile *file, FileSide *absent, UnetError *error);

/* The source called NAME before source BEFORE, or -1. */
int32_t dataset_source(const UnetDataset *dataset, int32_t before, const char *name);

/* dataset_border.c: whether source INDEX is border_weight(), which is made of labels once these are there.
 */
/* dataset_folder.c: the class of each sample, from the name of a folder, for all sources that ask for it.
 */
UNET_MUST_USE UnetStatus dataset_class_samples(UnetDataset *dataset, UnetError *error);
float dataset_folder_class(const UnetDataset *dataset, const Sample *sample, int32_t index);

bool dataset_is_border(const UnetDataset *dataset, int32_t index);
UNET_MUST_USE UnetStatus dataset_check_border(const UnetDataset *dataset, int32_t index, UnetError *error);

/* dataset_words.c: whether source INDEX is made of words once these are there. */
bool dataset_is_words(const UnetDataset *dataset, int32_t index);
UNET_MUST_USE UnetStatus dataset_check_made_of_words(const UnetDataset *dataset, int32_t index,
                                                     UnetError *error);
/* Reports a number of ROW that is no word of the source that reads SERIES. */
UNET_MUST_USE UnetStatus dataset_check_words(const UnetDataset *dataset, const Sample *sample,
                                             int32_t series, const float *row, int32_t count,
                                             UnetError *error);

/* Finds out how fine the files of each source are. */
UNET_MUST_USE UnetStatus dataset_scale(UnetDataset *dataset, UnetError *error);

/* How many rows (axis 0), columns (axis 1) or slices (axis 2) of what losses and metrics compare are
 * picture, where the window shows SHOWN of the coarsest files; program->measured must be known. */
int32_t dataset_valid(const UnetDataset *dataset, int axis, int32_t shown);

/* dataset_volume.c: whether TERM pushes an operand, and does not fill one that is there. */
bool dataset_pushes(const UnetSourceTerm *term);
/* dataset_decode.c: decodes the volumes of all samples that are not decoded yet. */
void dataset_decode_volumes(const UnetDataset *dataset, UnetDataPlace place);
/* dataset_mask.c: whether what SOURCE fills is normalised over masks. */
bool dataset_is_masked(const UnetDataset *dataset, int32_t source);
/* How the files of a series are resampled: labels take the nearest voxel. */
UnetSampling dataset_sampling(const UnetDataset *dataset, int32_t series);
/* Opens the volumes of a sample, and finds its SIZE. */
UNET_MUST_USE UnetStatus dataset_probe_volumes(UnetDataset *dataset, Sample *sample, UnetError *error);
void dataset_close_volumes(UnetDataset *dataset, Sample *sample);
/* A voxel of a class above 0, as KEY draws first its class and then itself: (height, width, depth); false:
 * there is none. */
bool dataset_draw_foreground(const UnetDataset *dataset, const Sample *sample, const UnetKey *key,
                             int32_t voxel[3]);

/* Whether there is one. */
bool dataset_has_foreground(const UnetDataset *dataset, const Sample *sample);
/* dataset_geometry.c: voxels and axes of volumes, line by line, and which have no class above 0. */
void dataset_describe_geometry(const UnetDataset *dataset, UnetNote *note, void *context);

/* dataset_json.c: where volumes lie beside nnU-Net's dataset.json, what it says and the model does not. */
UNET_MUST_USE UnetStatus dataset_check_json(const UnetDataset *dataset, Listener *listener, UnetNote *note,
                                            UnetError *error);

/* A series of volumes that hold the classes of a sample, or -1. */
int32_t dataset_series_of_labels(const UnetDataset *dataset);
/* dataset_fingerprint.c: what `normalize "ct"` takes from the training data for what SOURCE fills. */
UNET_MUST_USE UnetStatus dataset_measure_foreground(const UnetDataset *dataset, int32_t source,
                                                    UnetNormal *normal, UnetError *error);

/* Reads all headers; fills the samples' sizes and leaves out those with a problem. */
UNET_MUST_USE UnetStatus dataset_probe(UnetDataset *dataset, Listener *listener, UnetError *error);

/* The pattern of SERIES in folder FOLDER, or NULL: it has fewer. */
const char *dataset_pattern(const FileSeries *series, int32_t folder);

/* The path of the file of SERIES that belongs to a sample. */
UNET_MUST_USE UnetStatus dataset_path(const UnetDataset *dataset, const FileSeries *series,
                                      const Sample *sample, char path[UNET_PATH_BYTES], UnetError *error);

/* How input INPUT is normalised, or NULL. */
const UnetNormal *dataset_normal(const UnetDataset *dataset, int32_t input);

/* dataset_cache.c: decides which files are kept, once all sizes are known; returns false without memory. */
UNET_MUST_USE bool dataset_cache_plan(UnetDataset *dataset);
void dataset_cache_free(UnetDataset *dataset);

/* The kept file of a sample, decoded now if nobody has done it yet; *FILE is NULL where it is not kept, or
 * another thread is at it. */
UNET_MUST_USE UnetStatus dataset_cache_get(const UnetDataset *dataset, const Sample *sample, int32_t series,
                                           UnetImageMemory *memory, const CachedFile **file,
                                           UnetError *error);

/* Opens the file of a sample and makes sure that it has the size it had when the dataset was opened. */
UNET_MUST_USE UnetStatus dataset_open_file(const UnetDataset *dataset, const Sample *sample, int32_t series,
                                           UnetImageMemory *memory, UnetImageReader **reader,
                                           UnetError *error);

/* dataset_labels.c: does source SOURCE fill labels? */
bool dataset_is_labels(const UnetDataset *dataset, int32_t source);
/* Fills dataset->class_of; false without memory. */
UNET_MUST_USE bool dataset_make_classes(UnetDataset *dataset);
void dataset_free_classes(UnetDataset *dataset);
/* COUNT numbers of a file become classes. */
UNET_MUST_USE UnetStatus dataset_to_classes(const UnetDataset *dataset, const Sample *sample,
                                            int32_t series, float *row, int32_t count, UnetError *error);

/* dataset_missing.c: whether the inputs can hold what it does with them. */
UNET_MUST_USE UnetStatus dataset_check_missing(const UnetDataset *dataset, UnetError *error);
/* Settles COUNT numbers of a file of a picture; some may be missing. */
UNET_MUST_USE UnetStatus dataset_settle_missing(const UnetDataset *dataset, const Sample *sample,
                                                int32_t series, float *value, size_t count,
                                                UnetError *error);

/* dataset_colours.c: the class of COLOUR, or -1; "[128, 0, 0]". */
enum { COLOUR_TEXT_BYTES = 24 };
int32_t dataset_class_of_colour(const UnetSource *source, int32_t classes, int32_t colour);
const char *dataset_colour_text(int32_t colour, char text[COLOUR_TEXT_BYTES]);

/* The colours of masks that occur. */
enum { MOST_COLOURS = 256 };
typedef struct {
    int32_t colour[MOST_COLOURS];
    int64_t points[MOST_COLOURS], all;
    int32_t colours, files;
    bool more; /* than there is room for */
} ColourCount;

/* Adds the colours of the file at PATH, or its numbers; CHANNELS: UNET_IMAGE_COLOURS or _CLASSES. */
void dataset_count_colours(ColourCount *count, const char *path, int32_t channels);
/* Line by line: the colours of a source, and what to write. */
void dataset_describe_colours(const UnetDataset *dataset, int32_t source, ColourCount *count,
                              UnetNote *note, void *context);

/* The counts that check-data makes of the files of a source. */
typedef struct {
    int64_t files;
    int64_t points[UNET_IGNORED + 1];     /* of each class; behind them the points that count nowhere */
    int64_t files_with[UNET_IGNORED + 1]; /* that have any */
    int32_t least[3], most[3];            /* sizes: height, width, depth */
} LabelCount;

/* Adds what a file has; its rows are counted into FILE, which starts with zeros. */
void dataset_count_classes(LabelCount *file, const float *row, int32_t width);
void dataset_count_file(LabelCount *count, const LabelCount *file, const int32_t size[3]);
/* Line by line: sizes, each class, those never seen, and weights that make all classes count alike. */
void dataset_describe_classes(const UnetDataset *dataset, int32_t source, const LabelCount *count,
                              UnetNote *note, void *context);

/* dataset_check.c: decodes all files, and leaves out the samples with a problem. */
UNET_MUST_USE UnetStatus dataset_leave_bad(UnetDataset *dataset, Listener *listener, UnetError *error);

/* Fills dataset->scratch; false when the sizes overflow. */
UNET_MUST_USE bool dataset_plan_scratch(UnetDataset *dataset);

#endif
