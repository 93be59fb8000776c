/* poison.h - for programs compiled with `unetc --poison`: proof that a step touches its operands and
 * nothing else.
 *
 * Before each step all of the program's arena is poisoned for AddressSanitizer except the operands that the
 * plan lets live at that step; any other access, even one float past a neighbour, stops the program with
 * the step's line.  A buffer is filled with NaNs when its life begins, so that what is read before it is
 * written shows in the result.  Without AddressSanitizer only the NaNs are there.
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

/* Called once a program is through: the arena belongs to the caller again. */
static inline void unet_unpoison(char *arena, int64_t extent) {
    ASAN_UNPOISON_MEMORY_REGION(arena, (size_t)extent);
}

#endif
