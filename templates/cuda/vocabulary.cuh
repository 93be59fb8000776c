/* vocabulary.cuh - the logits of points for many classes: the loss of a language model and its gradient are
 * made of logits.
 *
 * A list has the points that count, in their order.  A block takes a tile of the list and goes through
 * classes tile by tile, so there are never more logits than threads have in registers and shared memory. */
#include "prologue.cuh"

/* BEGIN */
enum {
    VOCABULARY_TILE = 32,                        /* points, classes, and channels at a time */
    VOCABULARY_SIDE = THREADS / VOCABULARY_TILE, /* threads of a point */
    VOCABULARY_SHARE = VOCABULARY_TILE / VOCABULARY_SIDE,
    VOCABULARY_GROUPS = 16, /* of classes, which blocks of the loss share */
};
typedef real VocabularyTile[VOCABULARY_TILE][VOCABULARY_TILE + 1];

/* The points that count, and their classes; and how many they are. */
struct VocabularyList {
    int *count, *point, *number;
};

/* So many doubles have a list of so many points. */
[[maybe_unused]] static constexpr __host__ __device__ long vocabulary_list_doubles(long points) {
    return (1 + 2 * points + 1) / 2;
}

DEVICE VocabularyList vocabulary_list(double *at, long points) {
    int *const list = (int *)at;
    return {list, list + 1, list + 1 + points};
}

/* The class that a number names, or -1. */
DEVICE int vocabulary_class(real number, long classes) {
    return number >= -0.5f && (double)number < (double)classes - 0.5 ? (int)(number + 0.5f) : -1;
}

/* Lists the points: a thread has some neighbours, and writes behind the points of all threads before. */
template <int STAGED>
static __global__ void unet_list_points(double *at, real *lse, long sample, const void *t, int block,
                                        int points, int samples, long classes, const UnetControl *control) {
    SHARED(int, found, [THREADS]);
    const VocabularyList list = vocabulary_list(at, (long)points * samples);
    const unsigned all = (unsigned)points * samples, first = part_start(all, THREADS, threadIdx.x),
                   last = part_start(all, THREADS, threadIdx.x + 1);
    int count = 0, before = 0;
    for (unsigned i = first; i < last; i++) {
        const real number = load_channels<STAGED>(t, block, 1, i, 0).lane[0];
        count += is_valid(control, i / points) && vocabulary_class(number, classes) >= 0;
        if (lse != nullptr)
            lse[i / points * sample + i % points] = 0;
    }
    found[threadIdx.x] = count;
    __syncthreads();
    for (unsigned k = 0; k < threadIdx.x; k++)
        before += found[k];
    if (threadIdx.x == THREADS - 1)
        *list.count = before + count;
    for (unsigned i = first; i < last; i++) {
        const int number = vocabulary_class(load_channels<STAGED>(t, block, 1, i, 0).lane[0], classes);
        if (!is_valid(control, i / points) || number < 0)
            continue;
        list.point[before] = (int)i;
        list.number[before++] = number;
    }
}

/* A table with a row for each class, a bias or NULL, and the channels of all points. */
struct Vocabulary {
    const stored *x;
    int block, channels;
    const real *w, *b;
    long classes;
};

struct VocabularyLogits {
    real of[VOCABULARY_SHARE];
};

/* The logits of a tile of the list, from FIRST on, for a tile of classes, from CLASS on.  Thread k has
 * point k / VOCABULARY_SIDE and every VOCABULARY_SIDE-th class. */
DEVICE VocabularyLogits vocabulary_logits(VocabularyTile &points, VocabularyTile &rows, Vocabulary by,
                                          VocabularyList list, int first, long begin) {
    const int row = threadIdx.x / VOCABULARY_SIDE, lane = threadIdx.x % VOCABULARY_SIDE;
    VocabularyLogits logits = {};
    for (int m = 0; m < VOCABULARY_SHARE; m++) {
        const long j = begin + lane + m * VOCABULARY_SIDE;
        logits.of[m] = by.b != nullptr && j < by.classes ? by.b[j] : 0;
    }
    for (int slice = 0; slice < by.channels; slice += VOCABULARY_TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < VOCABULARY_TILE * VOCABULARY_TILE; i += THREADS) {
            const int k = i / VOCABULARY_TILE, c = slice + i % VOCABULARY_TILE;
            points[k][i % VOCABULARY_TILE] = first + k < *list.count && c < by.channels
                                                 ? load(by.x, (long)list.point[first + k] * by.block + c)
                                                 : 0;
            rows[k][i % VOCABULARY_TILE] =
                begin + k < by.classes && c < by.channels ? by.w[(begin + k) * by.channels + c] : 0;
        }
        __syncthreads();
        for (int c = 0; c < VOCABULARY_TILE; c++)
            for (int m = 0; m < VOCABULARY_SHARE; m++)
                logits.of[m] += points[row][c] * rows[lane + m * VOCABULARY_SIDE][c];
    }
    return logits;
}
/* END */
