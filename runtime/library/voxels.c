/* voxels.c - volumes decoded into files, and what is known of all their voxels (unet/voxels.h).
 *
 *     head, 4096 bytes | voxels | facts | values | counts of values by slices
 *
 * The head says of what file it is and how long each part; a file whose length is not the sum of these does
 * not count.  What is written last comes last: facts are known once all voxels were decoded.
 */
#define _DEFAULT_SOURCE /* realpath */
#include "unet/voxels.h"
#include "size_math.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096, VALUES = UINT16_MAX + 1 };

/* Written as it lies in memory: a file of another build or machine does not begin alike. */
typedef struct {
    char magic[16];
    uint32_t order; /* of bytes */
    uint32_t head_bytes, facts_bytes;
    uint32_t unused;
    int64_t source_bytes, source_seconds, source_nanoseconds;
    int64_t voxel_bytes;
    double
        spacing[3]; /* to which it is resampled, the way of which stands in the file's name; 0: it is not */
    UnetVolumeInfo info;
    int32_t source_size[3], also_unused;
    double source_spacing[3];
} Head;

static const char magic[16] = "unet volume 2\n";

_Static_assert(sizeof(Head) <= HEAD_BYTES, "the head has room");

/* ---- places ----------------------------------------------------------------------------------- */

static uint64_t hash(const char *text) { /* FNV-1a */
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++) {
        value = (value ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    return value;
}

static bool resamples(const UnetSampling *sampling) {
    return sampling != NULL && sampling->spacing[0] > 0;
}

enum { GRID_BYTES = 100 };

/* ".1x1x2.5-linear", which tells cache files of one source apart; the head has the numbers themselves. */
static const char *grid_text(const UnetSampling *sampling, char text[GRID_BYTES]) {
    text[0] = '\0';
    if (resamples(sampling)) {
        (void)snprintf(text, GRID_BYTES, ".%gx%gx%g-%s", sampling->spacing[0], sampling->spacing[1],
                       sampling->spacing[2], sampling->how == UNET_NEAREST ? "nearest" : "linear");
    }
    return text;
}

static UnetStatus cache_path(char out[UNET_PATH_BYTES], const char *path, const char *folder,
                             const UnetSampling *sampling, UnetError *error) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char grid[GRID_BYTES];
    int n;
    (void)grid_text(sampling, grid);
    if (folder == NULL) {
        n = snprintf(out, UNET_PATH_BYTES, "%.*s.%s%s.unetvol", (int)(name - path), path, name, grid);
    } else {
        char *whole = realpath(path, NULL);
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            free(whole);
            return unet_fail(error, UNET_IO, "%s: the folder cannot be created: %s", folder,
                             strerror(errno));
        }
        n = snprintf(out, UNET_PATH_BYTES, "%s/%016llx-%s%s.unetvol", folder,
                     (unsigned long long)hash(whole != NULL ? whole : path), name, grid);
        free(whole);
    }
    return n > 0 && n < UNET_PATH_BYTES ? UNET_OK
                                        : unet_fail(error, UNET_IO, "%s: the name is too long", path);
}

/* ---- what is known of all voxels -------------------------------------------------------------- */

typedef struct {
    UnetVoxelFacts facts;
    bool classes;   /* so far all voxels may be classes, of few values */
    int16_t *index; /* of each value among those seen; -1: not yet */
    int32_t value[UNET_MOST_VALUES];
    uint32_t *count; /* count[z * UNET_MOST_VALUES + index] */
} Survey;

static bool survey_start(Survey *survey, int32_t slices) {
    *survey = (Survey){.classes = true, .facts = {.least = INFINITY, .most = -INFINITY}};
    survey->index = malloc(VALUES * sizeof *survey->index);
    survey->count = calloc((size_t)slices * UNET_MOST_VALUES + 1, sizeof *survey->count);
    for (int i = 0; survey->index != NULL && i < VALUES; i++) {
        survey->index[i] = -1;
    }
    return survey->index != NULL && survey->count != NULL;
}

static void survey_end(Survey *survey) {
    free(survey->index);
    free(survey->count);
}

static void count_value(Survey *survey, int32_t z, float number) {
    if (!(number >= 0 && number < VALUES) || number != floorf(number)) {
        survey->classes = false;
        return;
    }
    int16_t *index = &survey->index[(int32_t)number];
    if (*index < 0) {
        if (survey->facts.nvalue == UNET_MOST_VALUES) {
            survey->classes = false;
            return;
        }
        *index = (int16_t)survey->facts.nvalue;
        survey->value[survey->facts.nvalue++] = (int32_t)number;
    }
    survey->count[(size_t)z * UNET_MOST_VALUES + (size_t)*index]++;
}

static void widen(UnetVoxelFacts *facts, const int32_t at[3]) {
    for (int i = 0; i < 3; i++) {
        if (facts->end[i] == 0 || at[i] < facts->begin[i]) {
            facts->begin[i] = at[i];
        }
        if (at[i] >= facts->end[i]) {
            facts->end[i] = at[i] + 1;
        }
    }
}

static void survey_row(Survey *survey, int32_t z, int32_t y, const float *row, int32_t width) {
    UnetVoxelFacts *facts = &survey->facts;
    int32_t first = width, last = -1;
    for (int32_t x = 0; x < width; x++) {
        const double number = (double)row[x];
        facts->sum += number;
        facts->squares += number * number;
        facts->least = row[x] < facts->least ? row[x] : facts->least;
        facts->most = row[x] > facts->most ? row[x] : facts->most;
        if (row[x] != 0) {
            first = x < first ? x : first;
            last = x;
        }
    }
    if (last >= 0) {
        const int32_t ends[2][3] = {{z, y, first}, {z, y, last}};
        widen(facts, ends[0]);
        widen(facts, ends[1]);
    }
    for (int32_t x = 0; x < width && survey->classes; x++) {
        count_value(survey, z, row[x]);
    }
}

static int ascending(const void *a, const void *b) {
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* Values in order, and counts of each by slices: VALUE has nvalue, COUNT nvalue * SLICES. */
static void survey_sort(Survey *survey, int32_t slices, int32_t *value, uint32_t *count) {
    const int32_t nvalue = survey->facts.nvalue;
    memcpy(value, survey->value, (size_t)nvalue * sizeof *value);
    qsort(value, (size_t)nvalue, sizeof *value, ascending);
    for (int32_t k = 0; k < nvalue; k++) {
        for (int32_t z = 0; z < slices; z++) {
            count[(size_t)k * (size_t)slices + (size_t)z] =
                survey->count[(size_t)z * UNET_MOST_VALUES + (size_t)survey->index[value[k]]];
        }
    }
}

/* ---- voxels ----------------------------------------------------------------------------------- */

#define CONVERT(type)                                                                                      \
    do {                                                                                                   \
        const type *from = (const type *)volume->voxel + at;                                               \
        for (int32_t i = 0; i < count; i++)                                                                \
            row[i] = (float)from[i];                                                                       \
    } while (0)

void unet_voxels_row(const UnetVoxels *volume, int32_t z, int32_t y, int32_t x, int32_t count, float *row) {
    const int32_t *size = volume->info.size;
    const size_t at = ((size_t)z * (size_t)size[1] + (size_t)y) * (size_t)size[2] + (size_t)x;
    switch (volume->info.type) {
    case UNET_VOXEL_U8:
        CONVERT(uint8_t);
        break;
    case UNET_VOXEL_I8:
        CONVERT(int8_t);
        break;
    case UNET_VOXEL_U16:
        CONVERT(uint16_t);
        break;
    case UNET_VOXEL_I16:
        CONVERT(int16_t);
        break;
    case UNET_VOXEL_F32:
        memcpy(row, (const float *)volume->voxel + at, (size_t)count * sizeof *row);
        break;
    }
}

/* Voxels of the box around all that is not 0, or, where there is none, all of them. */
static double box_voxels(const UnetVoxels *channel, int32_t channels) {
    double voxels = 1;
    for (int axis = 0; axis < 3; axis++) {
        int32_t begin = INT32_MAX, end = 0;
        for (int32_t c = 0; c < channels; c++) {
            const UnetVoxelFacts *facts = &channel[c].facts;
            const bool empty = facts->end[axis] == 0;
            begin = !empty && facts->begin[axis] < begin ? facts->begin[axis] : begin;
            end = facts->end[axis] > end ? facts->end[axis] : end;
        }
        voxels *= end > 0 ? end - begin : channel[0].info.size[axis];
    }
    return voxels;
}

/* What lies beside the box is 0, and adds nothing to the sums. */
void unet_voxels_normal(const UnetVoxels *channel, int32_t channels, UnetNormal *normal) {
    const double voxels = box_voxels(channel, channels);
    *normal = (UnetNormal){.clips = false};
    for (int32_t c = 0; c < channels; c++) {
        const double mean = channel[c].facts.sum / voxels;
        const double variance = channel[c].facts.squares / voxels - mean * mean;
        normal->mean[c] = mean;
        normal->deviation[c] = fmax(variance > 0 ? sqrt(variance) : 0, 1e-8);
    }
}

static size_t slice_bytes(const UnetVolumeInfo *info) {
    return (size_t)info->size[1] * (size_t)info->size[2] * unet_voxel_bytes(info->type);
}

/* Where decoded slices go: into FILE, or, where that is NULL, one behind the other into MEMORY; both NULL:
 * only facts are wanted, and no values. */
typedef struct {
    UnetSampledVolume *reader;
    UnetAtomicFile *file;
    char *memory;
    Survey survey;
} Decoding;

/* All slices of the file; SLICE and ROW have room for one.  Without FILE and MEMORY they go nowhere. */
static UnetStatus decode(Decoding *d, void *slice, float *row, UnetError *error) {
    const UnetVolumeInfo *info = unet_sampled_info(d->reader);
    UnetVoxels one = {.info = *info, .voxel = slice};
    UnetStatus status = UNET_OK;
    for (int32_t z = 0; z < info->size[0] && status == UNET_OK; z++) {
        status = unet_sampled_read_slice(d->reader, slice, &d->survey.facts.strange, error);
        for (int32_t y = 0; y < info->size[1] && status == UNET_OK; y++) {
            unet_voxels_row(&one, 0, y, 0, info->size[2], row);
            survey_row(&d->survey, z, y, row, info->size[2]);
        }
        if (status == UNET_OK && d->file != NULL) {
            status = unet_atomic_write(d->file, slice, slice_bytes(info), error);
        } else if (status == UNET_OK && d->memory != NULL) {
            memcpy(d->memory + (size_t)z * slice_bytes(info), slice, slice_bytes(info));
        }
    }
    d->survey.facts.nvalue = d->survey.classes ? d->survey.facts.nvalue : 0;
    return status;
}

static UnetStatus decode_all(Decoding *d, const char *path, UnetError *error) {
    const UnetVolumeInfo *info = unet_sampled_info(d->reader);
    void *slice = malloc(slice_bytes(info));
    float *row = malloc((size_t)info->size[2] * sizeof *row);
    const bool values = d->file != NULL || d->memory != NULL;
    const bool good = survey_start(&d->survey, values ? info->size[0] : 0) && slice != NULL && row != NULL;
    d->survey.classes &= values;
    UnetStatus status =
        good ? decode(d, slice, row, error) : unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    free(slice);
    free(row);
    return status;
}

/* ---- the file --------------------------------------------------------------------------------- */

static size_t padding(size_t bytes) {
    return (8 - bytes % 8) % 8;
}

/* Bytes behind the voxels. */
static size_t tail_bytes(int32_t nvalue, int32_t slices) {
    return sizeof(UnetVoxelFacts) + (size_t)nvalue * (sizeof(int32_t) + (size_t)slices * sizeof(uint32_t));
}

static Head make_head(const UnetVolumeInfo *info, const struct stat *source, const UnetSampling *sampling) {
    Head head = {.order = 0x01020304,
                 .head_bytes = sizeof(Head),
                 .facts_bytes = sizeof(UnetVoxelFacts),
                 .source_bytes = (int64_t)source->st_size,
                 .source_seconds = (int64_t)source->st_mtim.tv_sec,
                 .source_nanoseconds = (int64_t)source->st_mtim.tv_nsec,
                 .voxel_bytes = (int64_t)(slice_bytes(info) * (size_t)info->size[0]),
                 .info = *info};
    memcpy(head.magic, magic, sizeof magic);
    if (resamples(sampling)) {
        memcpy(head.spacing, sampling->spacing, sizeof head.spacing);
    }
    return head;
}

static UnetStatus write_tail(Decoding *d, UnetError *error) {
    const int32_t slices = unet_sampled_info(d->reader)->size[0], nvalue = d->survey.facts.nvalue;
    const char zeros[8] = {0};
    const size_t bytes = slice_bytes(unet_sampled_info(d->reader)) * (size_t)slices;
    int32_t *value = calloc((size_t)nvalue + 1, sizeof *value);
    uint32_t *count = calloc((size_t)nvalue * (size_t)slices + 1, sizeof *count);
    UnetStatus status = value != NULL && count != NULL
                            ? unet_atomic_write(d->file, zeros, padding(bytes), error)
                            : unet_fail(error, UNET_TOO_SMALL, "out of memory");
    if (status == UNET_OK) {
        survey_sort(&d->survey, slices, value, count);
        status = unet_atomic_write(d->file, &d->survey.facts, sizeof d->survey.facts, error);
    }
    if (status == UNET_OK) {
        status = unet_atomic_write(d->file, value, (size_t)nvalue * sizeof *value, error);
    }
    if (status == UNET_OK) {
        status = unet_atomic_write(d->file, count, (size_t)nvalue * (size_t)slices * sizeof *count, error);
    }
    free(value);
    free(count);
    return status;
}

static UnetStatus write_parts(Decoding *d, const char *path, const struct stat *source,
                              const UnetSampling *sampling, UnetError *error) {
    const UnetVolumeInfo *file = unet_sampled_source(d->reader);
    char head[HEAD_BYTES] = {0};
    Head made = make_head(unet_sampled_info(d->reader), source, sampling);
    memcpy(made.source_size, file->size, sizeof made.source_size);
    memcpy(made.source_spacing, file->spacing, sizeof made.source_spacing);
    memcpy(head, &made, sizeof made);
    UnetStatus status = unet_atomic_write(d->file, head, sizeof head, error);
    if (status == UNET_OK) {
        status = decode_all(d, path, error);
    }
    return status == UNET_OK ? write_tail(d, error) : status;
}

/* Decodes PATH into CACHE. */
static UnetStatus make(const char *path, const char *cache, const struct stat *source,
                       const UnetSampling *sampling, UnetError *error) {
    UnetAtomicFile file;
    Decoding d = {.file = &file};
    UnetStatus status = unet_sampled_open(&d.reader, path, sampling, error);
    if (status != UNET_OK) {
        return status;
    }
    unet_atomic_clean(cache); /* a run may have been killed while it decoded */
    status = unet_atomic_open(&file, cache, error);
    if (status == UNET_OK) {
        status = write_parts(&d, path, source, sampling, error);
        if (status == UNET_OK) {
            status = unet_atomic_commit(&file, error);
        } else {
            unet_atomic_abandon(&file);
        }
        survey_end(&d.survey);
    } else {
        unet_fail_more(error, " (volumes are decoded into files; --cache=DIR says where)");
    }
    unet_sampled_close(d.reader);
    return status;
}

/* ---- reading it in place ---------------------------------------------------------------------- */

/* Whether the mapped file is whole, and of SOURCE as it is now; then VOLUME's pointers are set. */
static bool is_current(UnetVoxels *volume, const struct stat *source, const UnetSampling *sampling) {
    const Head *head = volume->mapped;
    if (volume->bytes < HEAD_BYTES + sizeof(UnetVoxelFacts) ||
        memcmp(head->magic, magic, sizeof magic) != 0) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (head->info.size[i] < 1 || head->info.size[i] > INT16_MAX) {
            return false;
        }
    }
    if ((uint32_t)head->info.type >= UNET_VOXEL_TYPES) {
        return false;
    }
    const Head wanted = make_head(&head->info, source, sampling);
    if (memcmp(head, &wanted, offsetof(Head, info)) != 0) {
        return false;
    }
    const size_t voxels = (size_t)head->voxel_bytes, before = HEAD_BYTES + voxels + padding(voxels);
    if (volume->bytes < before + sizeof(UnetVoxelFacts)) {
        return false;
    }
    const char *tail = (const char *)volume->mapped + before;
    volume->info = head->info;
    memcpy(volume->source_size, head->source_size, sizeof volume->source_size);
    memcpy(volume->source_spacing, head->source_spacing, sizeof volume->source_spacing);
    memcpy(&volume->facts, tail, sizeof volume->facts);
    const int32_t nvalue = volume->facts.nvalue;
    volume->voxel = (const char *)volume->mapped + HEAD_BYTES;
    volume->value = (const void *)(tail + sizeof(UnetVoxelFacts));
    volume->count = (const void *)(tail + sizeof(UnetVoxelFacts) + (size_t)nvalue * sizeof(int32_t));
    return nvalue >= 0 && nvalue <= UNET_MOST_VALUES &&
           volume->bytes == before + tail_bytes(nvalue, head->info.size[0]);
}

/* False: there is no such file, or none that counts; then nothing is open. */
static bool map(UnetVoxels *volume, const char *cache, const struct stat *source,
                const UnetSampling *sampling) {
    struct stat found;
    *volume = (UnetVoxels){.bytes = 0};
    const int fd = open(cache, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
        volume->bytes = (size_t)found.st_size;
        volume->mapped = mmap(NULL, volume->bytes, PROT_READ, MAP_SHARED, fd, 0);
        volume->mapped = volume->mapped != MAP_FAILED ? volume->mapped : NULL;
    }
    (void)close(fd);
    if (volume->mapped != NULL && is_current(volume, source, sampling)) {
        return true;
    }
    unet_voxels_close(volume);
    return false;
}

UnetStatus unet_voxels_open(UnetVoxels *volume, const char *path, const char *folder,
                            const UnetSampling *sampling, UnetError *error) {
    char cache[UNET_PATH_BYTES];
    struct stat source;
    *volume = (UnetVoxels){.bytes = 0};
    if (stat(path, &source) != 0) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    UnetStatus status = cache_path(cache, path, folder, sampling, error);
    if (status != UNET_OK || map(volume, cache, &source, sampling)) {
        return status;
    }
    status = make(path, cache, &source, sampling, error);
    if (status == UNET_OK && !map(volume, cache, &source, sampling)) {
        status = unet_fail(error, UNET_IO, "%s: cannot be read back, or %s changes", cache, path);
    }
    return status;
}

bool unet_voxels_is_decoded(const char *path, const char *folder, const UnetSampling *sampling) {
    char cache[UNET_PATH_BYTES];
    struct stat source;
    UnetVoxels volume;
    const bool is = stat(path, &source) == 0 &&
                    cache_path(cache, path, folder, sampling, NULL) == UNET_OK &&
                    map(&volume, cache, &source, sampling);
    if (is) {
        unet_voxels_close(&volume);
    }
    return is;
}

void unet_voxels_close(UnetVoxels *volume) {
    if (volume->mapped != NULL) {
        (void)munmap(volume->mapped, volume->bytes);
    }
    free(volume->owned); // NOLINT(clang-analyzer-unix.Malloc): closed once, then cleared
    *volume = (UnetVoxels){.bytes = 0};
}

/* ---- in memory -------------------------------------------------------------------------------- */

static void keep_grids(UnetVoxels *volume, const UnetSampledVolume *from) {
    const UnetVolumeInfo *file = unet_sampled_source(from);
    volume->info = *unet_sampled_info(from);
    memcpy(volume->source_size, file->size, sizeof volume->source_size);
    memcpy(volume->source_spacing, file->spacing, sizeof volume->source_spacing);
}

/* Voxels, then values and counts. */
static UnetStatus decode_into(UnetVoxels *volume, Decoding *d, const char *path, UnetError *error) {
    const int32_t slices = volume->info.size[0];
    const size_t voxels = slice_bytes(&volume->info) * (size_t)slices, before = voxels + padding(voxels);
    const size_t most = (size_t)UNET_MOST_VALUES * (sizeof(int32_t) + (size_t)slices * sizeof(uint32_t));
    char *memory = volume->owned = malloc(before + most);
    if (memory == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: not enough memory for its voxels", path);
    }
    d->memory = memory;
    UnetStatus status = decode_all(d, path, error);
    if (status == UNET_OK) {
        int32_t *value = (void *)(memory + before);
        uint32_t *count = (void *)(value + d->survey.facts.nvalue);
        survey_sort(&d->survey, slices, value, count);
        volume->voxel = memory;
        volume->value = value;
        volume->count = count;
        volume->facts = d->survey.facts;
    }
    survey_end(&d->survey);
    return status;
}

UnetStatus unet_voxels_decode(UnetVoxels *volume, const char *path, const UnetSampling *sampling,
                              UnetError *error) {
    Decoding d = {.file = NULL};
    *volume = (UnetVoxels){.bytes = 0};
    UnetStatus status = unet_sampled_open(&d.reader, path, sampling, error);
    if (status != UNET_OK) {
        return status;
    }
    keep_grids(volume, d.reader);
    status = decode_into(volume, &d, path, error);
    unet_sampled_close(d.reader);
    if (status != UNET_OK) {
        unet_voxels_close(volume);
    }
    return status;
}

UnetStatus unet_voxels_survey(UnetVoxels *volume, const char *path, const UnetSampling *sampling,
                              UnetError *error) {
    Decoding d = {.file = NULL};
    *volume = (UnetVoxels){.bytes = 0};
    UnetStatus status = unet_sampled_open(&d.reader, path, sampling, error);
    if (status != UNET_OK) {
        return status;
    }
    status = decode_all(&d, path, error);
    keep_grids(volume, d.reader);
    volume->facts = d.survey.facts;
    survey_end(&d.survey);
    unet_sampled_close(d.reader);
    return status;
}
