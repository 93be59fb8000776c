/* image_jpeg_memory.c - the memory of libjpeg, from image_memory.h.
 *
 * libjpeg's own manager gives back what an image took, and takes it anew for the next one.  This one stands
 * in its place once an object of libjpeg is there: it has all of an image in memory, as the other has. */
#include "image_jpeg.h"
#include "size_math.h"

#include <string.h>

#include <jerror.h>

enum { ROW_BYTES = 64 }; /* of rows of samples: what vector instructions of libjpeg write at once */

/* Lies in front of each piece of memory that is taken. */
typedef struct Piece {
    struct Piece *next;
} Piece;

enum { PIECE_BYTES = 64 };

/* Rows that libjpeg announces first, and that are taken when it has announced all. */
struct jvirt_sarray_control {
    JSAMPARRAY rows;
    JDIMENSION width, height;
    boolean zeroed;
    struct jvirt_sarray_control *next;
};

struct jvirt_barray_control {
    JBLOCKARRAY rows;
    JDIMENSION width, height;
    boolean zeroed;
    struct jvirt_barray_control *next;
};

struct JpegMemory {
    struct jpeg_memory_mgr methods; /* first: libjpeg has a pointer to it */
    struct jpeg_memory_mgr *own;    /* libjpeg's, to be ended behind all */
    UnetImageMemory *memory;
    Piece *pool[JPOOL_NUMPOOLS];
    struct jvirt_sarray_control *samples;
    struct jvirt_barray_control *blocks;
};

static JpegMemory *memory_of(j_common_ptr jpeg) {
    return (JpegMemory *)(void *)jpeg->mem;
}

/* Ends at the caller's setjmp(), as all of libjpeg's errors. */
static _Noreturn void fail(j_common_ptr jpeg, int code, int number) {
    ERREXIT1(jpeg, code, number);
    __builtin_unreachable();
}

static void *take(j_common_ptr jpeg, int pool, size_t bytes) {
    JpegMemory *m = memory_of(jpeg);
    size_t all;
    if (pool < 0 || pool >= JPOOL_NUMPOOLS) {
        fail(jpeg, JERR_BAD_POOL_ID, pool);
    }
    Piece *piece = checked_add(bytes, PIECE_BYTES, &all) ? image_memory_take(m->memory, all) : NULL;
    if (piece == NULL) {
        fail(jpeg, JERR_OUT_OF_MEMORY, pool);
    }
    piece->next = m->pool[pool];
    m->pool[pool] = piece;
    return (char *)piece + PIECE_BYTES;
}

/* HEIGHT rows of BYTES each, side by side, and pointers to them. */
static void **take_rows(j_common_ptr jpeg, int pool, size_t bytes, JDIMENSION height) {
    size_t all;
    if (!checked_mul(bytes, height, &all)) {
        fail(jpeg, JERR_OUT_OF_MEMORY, pool);
    }
    void **rows = take(jpeg, pool, height * sizeof *rows);
    char *first = take(jpeg, pool, all);
    for (JDIMENSION y = 0; y < height; y++) {
        rows[y] = first + y * bytes;
    }
    return rows;
}

/* Samples of more than 8 bits take two bytes. */
static size_t sample_row(j_common_ptr jpeg, JDIMENSION width) {
    const struct jpeg_decompress_struct *d = (const void *)jpeg;
    const size_t bytes = (size_t)width * (d->data_precision > 8 ? 2 : sizeof(JSAMPLE));
    return (bytes + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES + ROW_BYTES;
}

static JSAMPARRAY take_samples(j_common_ptr jpeg, int pool, JDIMENSION width, JDIMENSION height) {
    return (JSAMPARRAY)take_rows(jpeg, pool, sample_row(jpeg, width), height);
}

static JBLOCKARRAY take_blocks(j_common_ptr jpeg, int pool, JDIMENSION width, JDIMENSION height) {
    return (JBLOCKARRAY)take_rows(jpeg, pool, (size_t)width * sizeof(JBLOCK), height);
}

/* ---- rows that are told of first --------------------------------------------------------------------- */

static jvirt_sarray_ptr ask_samples(j_common_ptr jpeg, int pool, boolean zeroed, JDIMENSION width,
                                    JDIMENSION height, JDIMENSION most) {
    JpegMemory *m = memory_of(jpeg);
    struct jvirt_sarray_control *asked = take(jpeg, pool, sizeof *asked);
    (void)most;
    *asked = (struct jvirt_sarray_control){NULL, width, height, zeroed, m->samples};
    return m->samples = asked;
}

static jvirt_barray_ptr ask_blocks(j_common_ptr jpeg, int pool, boolean zeroed, JDIMENSION width,
                                   JDIMENSION height, JDIMENSION most) {
    JpegMemory *m = memory_of(jpeg);
    struct jvirt_barray_control *asked = take(jpeg, pool, sizeof *asked);
    (void)most;
    *asked = (struct jvirt_barray_control){NULL, width, height, zeroed, m->blocks};
    return m->blocks = asked;
}

static void take_asked(j_common_ptr jpeg) {
    JpegMemory *m = memory_of(jpeg);
    for (struct jvirt_sarray_control *s = m->samples; s != NULL; s = s->next) {
        if (s->rows == NULL) {
            s->rows = take_samples(jpeg, JPOOL_IMAGE, s->width, s->height);
            memset(s->rows[0], 0, s->zeroed ? sample_row(jpeg, s->width) * s->height : 0);
        }
    }
    for (struct jvirt_barray_control *b = m->blocks; b != NULL; b = b->next) {
        if (b->rows == NULL) {
            b->rows = take_blocks(jpeg, JPOOL_IMAGE, b->width, b->height);
            memset(b->rows[0], 0, b->zeroed ? (size_t)b->width * sizeof(JBLOCK) * b->height : 0);
        }
    }
}

static JSAMPARRAY give_samples(j_common_ptr jpeg, jvirt_sarray_ptr asked, JDIMENSION first,
                               JDIMENSION count, boolean writes) {
    (void)writes;
    if (asked->rows == NULL || count > asked->height || first > asked->height - count) {
        ERREXIT(jpeg, JERR_BAD_VIRTUAL_ACCESS);
    }
    return asked->rows + first;
}

static JBLOCKARRAY give_blocks(j_common_ptr jpeg, jvirt_barray_ptr asked, JDIMENSION first,
                               JDIMENSION count, boolean writes) {
    (void)writes;
    if (asked->rows == NULL || count > asked->height || first > asked->height - count) {
        ERREXIT(jpeg, JERR_BAD_VIRTUAL_ACCESS);
    }
    return asked->rows + first;
}

/* ---- the end ---------------------------------------------------------------------------------------- */

static void free_pool(j_common_ptr jpeg, int pool) {
    JpegMemory *m = memory_of(jpeg);
    if (pool < 0 || pool >= JPOOL_NUMPOOLS) {
        fail(jpeg, JERR_BAD_POOL_ID, pool);
    }
    if (pool == JPOOL_IMAGE) {
        m->samples = NULL;
        m->blocks = NULL;
    }
    for (Piece *piece = m->pool[pool], *next; piece != NULL; piece = next) {
        next = piece->next;
        image_memory_give(m->memory, piece);
    }
    m->pool[pool] = NULL;
}

static void destroy(j_common_ptr jpeg) {
    JpegMemory *m = memory_of(jpeg);
    free_pool(jpeg, JPOOL_IMAGE);
    free_pool(jpeg, JPOOL_PERMANENT);
    jpeg->mem = m->own;
    image_memory_give(m->memory, m);
    jpeg->mem->self_destruct(jpeg);
}

bool jpeg_memory_take_over(struct jpeg_decompress_struct *jpeg, UnetImageMemory *memory) {
    JpegMemory *m = image_memory_take(memory, sizeof *m);
    if (m == NULL) {
        return false;
    }
    *m = (JpegMemory){.methods = *jpeg->mem, .own = jpeg->mem, .memory = memory};
    m->methods.alloc_small = take;
    m->methods.alloc_large = take;
    m->methods.alloc_sarray = take_samples;
    m->methods.alloc_barray = take_blocks;
    m->methods.request_virt_sarray = ask_samples;
    m->methods.request_virt_barray = ask_blocks;
    m->methods.realize_virt_arrays = take_asked;
    m->methods.access_virt_sarray = give_samples;
    m->methods.access_virt_barray = give_blocks;
    m->methods.free_pool = free_pool;
    m->methods.self_destruct = destroy;
    jpeg->mem = &m->methods;
    return true;
}
