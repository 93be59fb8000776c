/* memory.c - a pool of chunks, each twice as large as the last. */
#include "base/memory.h"
#include "base/diag.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Chunk {
    struct Chunk *next;
    size_t used, size;
    alignas(max_align_t) char bytes[];
} Chunk;

struct Pool {
    Chunk *chunk;
};

Pool *pool_new(void) {
    Pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        out_of_memory();
    return pool;
}

void pool_free(Pool *pool) {
    for (Chunk *chunk = pool->chunk, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(pool);
}

static void add_chunk(Pool *pool, size_t bytes) {
    size_t size = pool->chunk == NULL ? 1 << 16 : pool->chunk->size * 2;
    if (size < bytes)
        size = bytes;
    Chunk *chunk = size > SIZE_MAX - sizeof *chunk ? NULL : calloc(1, sizeof *chunk + size);
    if (chunk == NULL)
        out_of_memory();
    chunk->size = size;
    chunk->next = pool->chunk;
    pool->chunk = chunk;
}

void *pool_array(Pool *pool, size_t count, size_t size) {
    size_t bytes;
    const size_t align = alignof(max_align_t);
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - align)
        out_of_memory();
    bytes = (bytes + align - 1) / align * align;
    if (pool->chunk == NULL || pool->chunk->size - pool->chunk->used < bytes)
        add_chunk(pool, bytes);
    void *result = pool->chunk->bytes + pool->chunk->used;
    pool->chunk->used += bytes;
    return result;
}

char *pool_copy(Pool *pool, const char *bytes, size_t length) {
    char *copy = pool_array(pool, length + 1, 1);
    memcpy(copy, bytes, length);
    return copy;
}

char *pool_vtext(Pool *pool, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = pool_array(pool, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *pool_text(Pool *pool, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pool_vtext(pool, format, arguments);
    va_end(arguments);
    return text;
}

void *pool_grow(Pool *pool, void *array, int count, size_t size) {
    if (count > 0 && (count & (count - 1)) != 0)
        return array; /* not a power of two: there is room */
    void *larger = pool_array(pool, count == 0 ? 1 : 2 * (size_t)count, size);
    if (count > 0)
        memcpy(larger, array, (size_t)count * size);
    return larger;
}
