/* image_memory.c - see image_memory.h. */
#include "image_memory.h"
#include "size_math.h"

#include <stdlib.h>
#include <string.h>

/* In front of each block. */
typedef struct Head {
    struct Head *next; /* while nobody has the block */
    size_t bytes;      /* behind the head */
} Head;

enum { HEAD_BYTES = 64, LEAST = 64, COARSE = 1 << 16 };

struct UnetImageMemory {
    Head *spare;
    ImageKept kept;
};

UnetImageMemory *unet_image_memory_create(void) {
    return calloc(1, sizeof(UnetImageMemory));
}

void unet_image_memory_destroy(UnetImageMemory *memory) {
    if (memory == NULL) {
        return;
    }
    if (memory->kept.object != NULL) {
        memory->kept.destroy(memory->kept.object);
    }
    for (Head *head = memory->spare, *next; head != NULL; head = next) {
        next = head->next;
        free(head);
    }
    free(memory);
}

ImageKept *image_memory_kept(UnetImageMemory *memory) {
    return &memory->kept;
}

/* The next power of two; of large blocks, the next of 16 steps between two of them; 0: there is none. */
static size_t class_of(size_t bytes) {
    size_t size = LEAST;
    while (size < bytes && size <= SIZE_MAX / 4) {
        size *= 2;
    }
    if (size < bytes) {
        return 0;
    }
    const size_t step = size / 32;
    return size <= COARSE ? size : (bytes + step - 1) / step * step;
}

static Head *take_out(Head **at) {
    Head *head = *at;
    *at = head->next;
    return head;
}

/* Takes a block that nobody has: a block of just BYTES, or, if BYTES are many, the smallest that has as
 * many; NULL: there is none. */
static Head *take_spare(UnetImageMemory *memory, size_t bytes) {
    Head **best = NULL;
    for (Head **at = &memory->spare; *at != NULL; at = &(*at)->next) {
        const size_t has = (*at)->bytes;
        if (has == bytes) {
            return take_out(at);
        }
        if (bytes > COARSE && has > bytes && (best == NULL || has < (*best)->bytes)) {
            best = at;
        }
    }
    return best != NULL ? take_out(best) : NULL;
}

/* A new block of BYTES, which are many, takes the place of the largest that was too small: images that grow
 * leave no block behind for each size. */
static void drop_smaller(UnetImageMemory *memory, size_t bytes) {
    Head **best = NULL;
    for (Head **at = &memory->spare; *at != NULL; at = &(*at)->next) {
        const size_t has = (*at)->bytes;
        if (has > COARSE && has < bytes && (best == NULL || has > (*best)->bytes)) {
            best = at;
        }
    }
    if (best != NULL) {
        free(take_out(best));
    }
}

void *image_memory_take(UnetImageMemory *memory, size_t bytes) {
    const size_t size = class_of(bytes);
    size_t all;
    if (size == 0 || !checked_add(size, HEAD_BYTES, &all)) {
        return NULL;
    }
    Head *head = memory != NULL ? take_spare(memory, size) : NULL;
    if (head == NULL) {
        if (memory != NULL && size > COARSE) {
            drop_smaller(memory, size);
        }
        head = aligned_alloc(HEAD_BYTES, all);
        if (head == NULL) {
            return NULL;
        }
        head->bytes = size;
    }
    head->next = NULL;
    return (char *)head + HEAD_BYTES;
}

void *image_memory_take_zeroed(UnetImageMemory *memory, size_t bytes) {
    void *block = image_memory_take(memory, bytes);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

void image_memory_give(UnetImageMemory *memory, void *block) {
    if (block == NULL) {
        return;
    }
    Head *head = (void *)((char *)block - HEAD_BYTES);
    if (memory == NULL) {
        free(head);
        return;
    }
    head->next = memory->spare;
    memory->spare = head;
}
