/* voxels.c - volumes decoded into files, and facts about all their voxels (unet/voxels.h).
 *
 *     head, 4096 bytes | voxels | facts | values | counts of values by slices | mask
 *
 * The head says of what file it is and how long each part; a file whose length is not the sum of these does
 * not count.  Facts come behind the voxels, because they are known once all voxels were decoded.
 */
#define _DEFAULT_SOURCE /* realpath */
#include "unet/voxels.h"
#include "size_math.h"
#include "voxels_extent.h"

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
    uint32_t masked;
    double whole; /* UnetSampling.whole */
    int64_t source_bytes, source_seconds, source_nanoseconds;
    int64_t voxel_bytes;
    double spacing[3]; /* it is resampled to this, in the way that the file's name says; 0: it is not */
    UnetVolumeInfo info;
    int32_t source_size[3], also_unused;
    double source_spacing[3];
} Head;

static const char magic[16] = "unet volume 4\n";

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

static bool is_masked(const UnetSampling *sampling) {
    return sampling != NULL && sampling->masked;
}

static double whole_within(const UnetSampling *sampling) {
    return sampling != NULL ? sampling->whole : 0;
}

enum { GRID_BYTES = 100 };

/* ".1x1x2.5-linear", which tells cache files of one source apart; the head has the numbers themselves. */
static const char *grid_text(const UnetSampling *sampling, char text[GRID_BYTES]) {
    static const char *const how[] = {"nearest", "linear", "cubic"};
    const char *masked = is_masked(sampling) ? ".masked" : "";
    (void)snprintf(text, GRID_BYTES, "%s", masked);
    if (resamples(sampling)) {
        (void)snprintf(text, GRID_BYTES, ".%gx%gx%g-%s%s", sampling->spacing[0], sampling->spacing[1],
                       sampling->spacing[2], how[sampling->how], masked);
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

/* ---- facts about all voxels ------------------------------------------------------------------- */

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

static void survey_row(Survey *survey, int32_t z, const float *row, int32_t width) {
    UnetVoxelFacts *facts = &survey->facts;
    for (int32_t x = 0; x < width; x++) {
        facts->least = row[x] < facts->least ? row[x] : facts->least;
        facts->most = row[x] > facts->most ? row[x] : facts->most;
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

/* Finds the box of all voxels that are not 0 in the files, or, if there are none, of all voxels. */
static void file_box(const UnetVoxels *channel, int32_t channels, int32_t begin[3], int32_t end[3]) {
    for (int axis = 0; axis < 3; axis++) {
        begin[axis] = INT32_MAX;
        end[axis] = 0;
        for (int32_t c = 0; c < channels; c++) {
            const UnetFileFacts *facts = &channel[c].facts.file;
            const bool empty = facts->end[axis] == 0;
            begin[axis] = !empty && facts->begin[axis] < begin[axis] ? facts->begin[axis] : begin[axis];
            end[axis] = facts->end[axis] > end[axis] ? facts->end[axis] : end[axis];
        }
        if (end[axis] == 0) {
            begin[axis] = 0;
            end[axis] = channel[0].source_size[axis];
        }
    }
}

void unet_voxels_box(const UnetVoxels *channel, int32_t channels, int32_t begin[3], int32_t end[3]) {
    file_box(channel, channels, begin, end);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t from = channel[0].source_size[axis], to = channel[0].info.size[axis];
        begin[axis] = (int32_t)(begin[axis] * to / from);
        end[axis] = (int32_t)((end[axis] * to + from - 1) / from);
    }
}

static bool file_masked(const UnetVoxels *channel, int32_t channels, size_t byte, int32_t bit) {
    bool masked = false;
    for (int32_t c = 0; c < channels; c++) {
        masked |= (channel[c].mask[byte] >> bit & 1) != 0;
    }
    return masked;
}

/* The voxel of the file that lies nearest to voxel I. */
static int32_t nearest(const UnetVoxels *volume, int axis, int32_t i) {
    const int64_t from = volume->source_size[axis], to = volume->info.size[axis];
    return from == to ? i : (int32_t)((2 * (int64_t)i + 1) * from / (2 * to));
}

bool unet_voxels_masked(const UnetVoxels *channel, int32_t channels, int32_t z, int32_t y, int32_t x) {
    const size_t row =
        (size_t)nearest(channel, 0, z) * (size_t)channel->source_size[1] + (size_t)nearest(channel, 1, y);
    const int32_t at = nearest(channel, 2, x);
    return file_masked(channel, channels,
                       row * (((size_t)channel->source_size[2] + 7) / 8) + (size_t)at / 8, at % 8);
}

/* Counts the voxels of the mask; one channel has them counted already. */
static double count_masked(const UnetVoxels *channel, int32_t channels) {
    int64_t count = channels == 1 ? channel->facts.file.masked : 0;
    const size_t bytes = channels == 1 ? 0 : extent_mask_bytes(channel->source_size);
    for (size_t i = 0; i < bytes; i++) {
        for (int32_t bit = 0; bit < 8; bit++) {
            count += file_masked(channel, channels, i, bit);
        }
    }
    return (double)(count > 0 ? count : 1);
}

/* Voxels beside the box, or the mask, are 0, and add nothing to the sums. */
void unet_voxels_normal(const UnetVoxels *channel, int32_t channels, UnetNormal *normal) {
    int32_t begin[3], end[3];
    file_box(channel, channels, begin, end);
    const double box = (double)(end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]),
                 voxels = channel->mask != NULL ? count_masked(channel, channels) : box;
    *normal = (UnetNormal){.clips = false};
    for (int32_t c = 0; c < channels; c++) {
        const double mean = channel[c].facts.file.sum / voxels;
        const double variance = channel[c].facts.file.squares / voxels - mean * mean;
        normal->mean[c] = mean;
        normal->deviation[c] = fmax(variance > 0 ? sqrt(variance) : 0, 1e-8);
    }
}

static size_t slice_bytes(const UnetVolumeInfo *info) {
    return (size_t)info->size[1] * (size_t)info->size[2] * unet_voxel_bytes(info->type);
}

/* The place of decoded slices: FILE, or, if it is NULL, one behind the other in MEMORY; both NULL: only
 * facts are wanted, and no values. */
typedef struct {
    UnetSampledVolume *reader;
    UnetAtomicFile *file;
    char *memory;
    Survey survey;
    Extent extent;
    double whole; /* UnetSampling.whole */
} Decoding;

static void see_row(void *context, int32_t z, int32_t y, const float *row) {
    extent_row(context, z, y, row);
}

static void decoding_end(Decoding *d) {
    survey_end(&d->survey);
    extent_end(&d->extent);
}

/* Row (Z, Y): numbers that are near enough to whole ones become those. */
static void make_whole(Decoding *d, int32_t z, int32_t y, float *row, int32_t width) {
    UnetVoxelFacts *facts = &d->survey.facts;
    for (int32_t x = 0; x < width; x++) {
        const float whole = rintf(row[x]);
        if (whole == row[x]) {
            continue;
        }
        if (fabs((double)row[x] - (double)whole) <= d->whole) {
            facts->rounded++;
            row[x] = whole;
        } else if (facts->odd++ == 0) {
            facts->odd_value = (double)row[x];
            memcpy(facts->odd_at, (const int32_t[3]){z, y, x}, sizeof facts->odd_at);
        }
    }
}

/* All slices of the file; SLICE and ROW have room for one.  Without FILE and MEMORY they go nowhere. */
static UnetStatus decode(Decoding *d, void *slice, float *row, UnetError *error) {
    const UnetVolumeInfo *info = unet_sampled_info(d->reader);
    UnetVoxels one = {.info = *info, .voxel = slice};
    UnetStatus status = UNET_OK;
    for (int32_t z = 0; z < info->size[0] && status == UNET_OK; z++) {
        status = unet_sampled_read_slice(d->reader, slice, &d->survey.facts.strange, error);
        for (int32_t y = 0; y < info->size[1] && status == UNET_OK; y++) {
            if (d->whole > 0 && info->type == UNET_VOXEL_F32) {
                make_whole(d, z, y, (float *)slice + (size_t)y * (size_t)info->size[2], info->size[2]);
            }
            unet_voxels_row(&one, 0, y, 0, info->size[2], row);
            survey_row(&d->survey, z, row, info->size[2]);
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

static UnetStatus decode_all(Decoding *d, const char *path, bool masked, UnetError *error) {
    const UnetVolumeInfo *info = unet_sampled_info(d->reader);
    void *slice = malloc(slice_bytes(info));
    float *row = malloc((size_t)info->size[2] * sizeof *row);
    const bool values = d->file != NULL || d->memory != NULL;
    bool good = survey_start(&d->survey, values ? info->size[0] : 0) && slice != NULL && row != NULL;
    good &= extent_start(&d->extent, unet_sampled_source(d->reader)->size, masked);
    d->survey.classes &= values;
    unet_sampled_watch(d->reader, see_row, &d->extent);
    UnetStatus status = good ? decode(d, slice, row, error) : UNET_OK;
    good &= status != UNET_OK || extent_finish(&d->extent);
    d->survey.facts.file = d->extent.facts;
    if (!good) {
        status = unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    free(slice);
    free(row);
    return status;
}

/* ---- the file --------------------------------------------------------------------------------- */

static size_t padding(size_t bytes) {
    return (8 - bytes % 8) % 8;
}

/* Bytes behind the voxels. */
static size_t tail_bytes(int32_t nvalue, int32_t slices, size_t mask) {
    return sizeof(UnetVoxelFacts) + (size_t)nvalue * (sizeof(int32_t) + (size_t)slices * sizeof(uint32_t)) +
           mask;
}

static Head make_head(const UnetVolumeInfo *info, const struct stat *source, const UnetSampling *sampling) {
    Head head = {.order = 0x01020304,
                 .head_bytes = sizeof(Head),
                 .facts_bytes = sizeof(UnetVoxelFacts),
                 .masked = is_masked(sampling),
                 .whole = whole_within(sampling),
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
    if (value == NULL || count == NULL) {
        free(value);
        free(count);
        return unet_fail(error, UNET_TOO_SMALL, "out of memory");
    }
    survey_sort(&d->survey, slices, value, count);
    UnetStatus status = unet_atomic_write(d->file, zeros, padding(bytes), error);
    if (status == UNET_OK) {
        status = unet_atomic_write(d->file, &d->survey.facts, sizeof d->survey.facts, error);
    }
    if (status == UNET_OK) {
        status = unet_atomic_write(d->file, value, (size_t)nvalue * sizeof *value, error);
    }
    if (status == UNET_OK) {
        status = unet_atomic_write(d->file, count, (size_t)nvalue * (size_t)slices * sizeof *count, error);
    }
    if (status == UNET_OK && d->extent.mask != NULL) {
        status = unet_atomic_write(d->file, d->extent.mask, extent_mask_bytes(d->extent.size), error);
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
        status = decode_all(d, path, is_masked(sampling), error);
    }
    return status == UNET_OK ? write_tail(d, error) : status;
}

/* Decodes PATH into CACHE. */
static UnetStatus make(const char *path, const char *cache, const struct stat *source,
                       const UnetSampling *sampling, UnetError *error) {
    UnetAtomicFile file;
    Decoding d = {.file = &file, .whole = whole_within(sampling)};
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
        decoding_end(&d);
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
        if (head->info.size[i] < 1 || head->info.size[i] > INT16_MAX || head->source_size[i] < 1 ||
            head->source_size[i] > INT16_MAX) {
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
    const size_t mask = head->masked != 0 ? extent_mask_bytes(head->source_size) : 0;
    volume->mask = mask > 0 ? (const uint8_t *)volume->mapped + volume->bytes - mask : NULL;
    return nvalue >= 0 && nvalue <= UNET_MOST_VALUES &&
           volume->bytes == before + tail_bytes(nvalue, head->info.size[0], mask);
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
    free(volume->owned_mask);
    *volume = (UnetVoxels){.bytes = 0};
}

/* ---- in memory -------------------------------------------------------------------------------- */

static void keep_grids(UnetVoxels *volume, const UnetSampledVolume *from) {
    const UnetVolumeInfo *file = unet_sampled_source(from);
    volume->info = *unet_sampled_info(from);
    memcpy(volume->source_size, file->size, sizeof volume->source_size);
    memcpy(volume->source_spacing, file->spacing, sizeof volume->source_spacing);
}

static void take_facts(UnetVoxels *volume, Decoding *d) {
    volume->facts = d->survey.facts;
    volume->mask = volume->owned_mask = d->extent.mask;
    d->extent.mask = NULL;
}

/* Voxels, then values and counts. */
static UnetStatus decode_into(UnetVoxels *volume, Decoding *d, const char *path, bool masked,
                              UnetError *error) {
    const int32_t slices = volume->info.size[0];
    const size_t voxels = slice_bytes(&volume->info) * (size_t)slices, before = voxels + padding(voxels);
    const size_t most = (size_t)UNET_MOST_VALUES * (sizeof(int32_t) + (size_t)slices * sizeof(uint32_t));
    char *memory = volume->owned = malloc(before + most);
    if (memory == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: not enough memory for its voxels", path);
    }
    d->memory = memory;
    UnetStatus status = decode_all(d, path, masked, error);
    if (status == UNET_OK) {
        int32_t *value = (void *)(memory + before);
        uint32_t *count = (void *)(value + d->survey.facts.nvalue);
        survey_sort(&d->survey, slices, value, count);
        volume->voxel = memory;
        volume->value = value;
        volume->count = count;
        take_facts(volume, d);
    }
    decoding_end(d);
    return status;
}

UnetStatus unet_voxels_decode(UnetVoxels *volume, const char *path, const UnetSampling *sampling,
                              UnetError *error) {
    Decoding d = {.file = NULL, .whole = whole_within(sampling)};
    *volume = (UnetVoxels){.bytes = 0};
    UnetStatus status = unet_sampled_open(&d.reader, path, sampling, error);
    if (status != UNET_OK) {
        return status;
    }
    keep_grids(volume, d.reader);
    status = decode_into(volume, &d, path, is_masked(sampling), error);
    unet_sampled_close(d.reader);
    if (status != UNET_OK) {
        unet_voxels_close(volume);
    }
    return status;
}

UnetStatus unet_voxels_survey(UnetVoxels *volume, const char *path, const UnetSampling *sampling,
                              UnetError *error) {
    Decoding d = {.file = NULL, .whole = whole_within(sampling)};
    *volume = (UnetVoxels){.bytes = 0};
    UnetStatus status = unet_sampled_open(&d.reader, path, sampling, error);
    if (status != UNET_OK) {
        return status;
    }
    status = decode_all(&d, path, is_masked(sampling), error);
    keep_grids(volume, d.reader);
    take_facts(volume, &d);
    decoding_end(&d);
    unet_sampled_close(d.reader);
    if (status != UNET_OK) {
        unet_voxels_close(volume);
    }
    return status;
}
