/* poison.h - for programs compiled with `unetc --poison`: proof that a step touches its operands and
 * nothing else.
 *
 * Before each step all of the program's arena is poisoned for AddressSanitizer except the operands that the
 * plan lets live at that step; any other access, even one float past a neighbour, stops the program with
 * the step's line.  In a loop over bands the same holds for the rows of each tensor.  A buffer is filled
 * with NaNs when its life begins, so that a read before the first write shows in the result.  Without
 * AddressSanitizer only the NaNs are there.
 */
#ifndef UNET_POISON_H
#define UNET_POISON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__
#define UNET_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define UNET_ASAN 1
#endif
#endif

#ifdef UNET_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

/* An operand of a step. */
typedef struct {
    int64_t offset, bytes; /* bytes 0 ends a list */
    int begins;            /* its life begins here */
} UnetSpan;

/* Called by every thread of the team at the head of a step. */
static inline void unet_operands(char *arena, int64_t extent, const UnetSpan *span) {
#pragma omp barrier
#pragma omp single
    {
        ASAN_POISON_MEMORY_REGION(arena, (size_t)extent);
        for (; span->bytes > 0; span++) {
            ASAN_UNPOISON_MEMORY_REGION(arena + span->offset, (size_t)span->bytes);
            if (span->begins)
                memset(arena + span->offset, 0xff, (size_t)span->bytes);
        }
    }
}

/* A tensor in a loop over bands, in bytes: so many samples, planes in each, rows in each, and how far apart
 * they lie; row r lies at number (r + zero) mod `rows`. */
typedef struct {
    int64_t offset, samples, sample, planes, plane, rows, row, zero; /* rows 0 ends a list */
    int64_t begin, end, each;     /* rows that the first band touches, and by how many they move on */
    int64_t above, height, below; /* rows of the tensor, and of the halo around them, which go with the
                                   * first row and with the last */
} UnetRows;

/* The rows [begin, end) may be touched, or may not. */
static inline void unet_poison_rows(char *arena, const UnetRows *of, int64_t begin, int64_t end, int may) {
    for (int64_t n = 0; n < of->samples * of->planes; n++) {
        char *const plane = arena + of->offset + n / of->planes * of->sample + n % of->planes * of->plane;
        for (int64_t r = begin; r < end; r++) {
            char *const row = plane + ((r + of->zero) % of->rows + of->rows) % of->rows * of->row;
            if (may)
                ASAN_UNPOISON_MEMORY_REGION(row, (size_t)of->row);
            else
                ASAN_POISON_MEMORY_REGION(row, (size_t)of->row);
        }
    }
}

/* Called behind unet_operands() in a loop over bands: of these operands no other rows. */
static inline void unet_rows(char *arena, int64_t band, const UnetRows *rows) {
#pragma omp single
    {
        for (const UnetRows *of = rows; of->rows > 0; of++)
            unet_poison_rows(arena, of, 0, of->rows, 0);
        for (const UnetRows *of = rows; of->rows > 0; of++) {
            const int64_t begin = of->begin + band * of->each, end = of->end + band * of->each;
            unet_poison_rows(arena, of, begin <= 0 ? -of->above : begin,
                             end >= of->height ? of->height + of->below : end, 1);
        }
    }
}

/* Called once a program is through: the arena belongs to the caller again. */
static inline void unet_unpoison(char *arena, int64_t extent) {
    ASAN_UNPOISON_MEMORY_REGION(arena, (size_t)extent);
}

#endif
