/* memory.c - a pool of chunks, each twice as large as the last, up to a bound; a large array has a chunk of
 * its own, which goes when the array has grown out of it.
 *
 * In a build with the address sanitizer, bytes that nobody may touch lie between arrays, so that an index
 * beyond an array's ends is found.
 */
#include "base/memory.h"
#include "base/diag.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
enum { BETWEEN = 32 }; /* bytes in front of the first array of a chunk, and behind each */
static void forbid(const char *bytes, size_t count) {
    ASAN_POISON_MEMORY_REGION(bytes, count);
}
#else
enum { BETWEEN = 0 };
static void forbid(const char *bytes, size_t count) {
    (void)bytes, (void)count;
}
#endif

typedef struct Chunk {
    struct Chunk *next, *before; /* BEFORE: of one that has a large array alone */
    size_t used, size;
    alignas(max_align_t) char bytes[];
} Chunk;

struct Pool {
    Chunk *chunk;                /* there may be room in the first */
    Chunk *large;                /* chunks of large arrays */
    Pool *whole;                 /* the pool that it is a part of, or NULL */
    Pool *part, *before, *after; /* its first part; its neighbours among the parts of WHOLE */
    const char *net;             /* what it is for, or NULL */
};

Pool *pool_new(void) {
    Pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        out_of_memory();
    return pool;
}

void pool_is_for(Pool *pool, const char *net) {
    pool->net = net;
}

static _Noreturn void end_out_of_memory(const Pool *pool) {
    while (pool->net == NULL && pool->whole != NULL)
        pool = pool->whole;
    out_of_memory_for(pool->net);
}

Pool *pool_part(Pool *whole) {
    Pool *part = pool_new();
    part->whole = whole;
    part->after = whole->part;
    if (part->after != NULL)
        part->after->before = part;
    whole->part = part;
    return part;
}

static void leave_whole(Pool *pool) {
    if (pool->after != NULL)
        pool->after->before = pool->before;
    if (pool->before != NULL)
        pool->before->after = pool->after;
    else if (pool->whole != NULL)
        pool->whole->part = pool->after;
}

static void free_chunks(Chunk *chunk) {
    for (Chunk *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
}

void pool_free(Pool *pool) {
    leave_whole(pool);
    for (Pool *part = pool->part, *after; part != NULL; part = after) {
        after = part->after;
        pool_free(part);
    }
    free_chunks(pool->chunk);
    free_chunks(pool->large);
    free(pool);
}

static Chunk *chunk_new(const Pool *pool, size_t size) {
    Chunk *chunk =
        size > SIZE_MAX - sizeof *chunk - BETWEEN ? NULL : calloc(1, sizeof *chunk + BETWEEN + size);
    if (chunk == NULL)
        end_out_of_memory(pool);
    chunk->size = BETWEEN + size;
    chunk->used = BETWEEN;
    forbid(chunk->bytes, BETWEEN);
    return chunk;
}

enum { LEAST_CHUNK = 1 << 14, MOST_CHUNK = 1 << 20, LARGE = MOST_CHUNK / 4 };

static Chunk *chunk_for_large(Pool *pool, size_t bytes) {
    Chunk *chunk = chunk_new(pool, bytes);
    chunk->next = pool->large;
    if (chunk->next != NULL)
        chunk->next->before = chunk;
    return pool->large = chunk;
}

/* With room for so many BYTES. */
static Chunk *chunk_for(Pool *pool, size_t bytes) {
    Chunk *first = pool->chunk;
    if (bytes > LARGE)
        return chunk_for_large(pool, bytes);
    if (first != NULL && first->size - first->used >= bytes)
        return first;
    size_t size = first == NULL ? LEAST_CHUNK : first->size < MOST_CHUNK / 2 ? first->size * 2 : MOST_CHUNK;
    Chunk *chunk = chunk_new(pool, size < bytes ? bytes : size);
    chunk->next = first;
    return pool->chunk = chunk;
}

void *pool_array(Pool *pool, size_t count, size_t size) {
    size_t bytes;
    const size_t align = alignof(max_align_t);
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - align - BETWEEN)
        end_out_of_memory(pool);
    const size_t taken = (bytes + align - 1) / align * align + BETWEEN;
    Chunk *chunk = chunk_for(pool, taken);
    char *result = chunk->bytes + chunk->used;
    forbid(result + bytes, taken - bytes);
    chunk->used += taken;
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

void pool_drop(Pool *pool, const void *array) {
    Chunk *chunk = pool->large;
    while (chunk != NULL && chunk->bytes + BETWEEN != array)
        chunk = chunk->next;
    if (chunk == NULL)
        return;
    if (chunk->next != NULL)
        chunk->next->before = chunk->before;
    *(chunk->before != NULL ? &chunk->before->next : &pool->large) = chunk->next;
    free(chunk);
}

void *pool_grow(Pool *pool, void *array, int count, size_t size) {
    if (count > 0 && (count & (count - 1)) != 0)
        return array; /* not a power of two: there is room */
    void *larger = pool_array(pool, count == 0 ? 1 : 2 * (size_t)count, size);
    if (count > 0)
        memcpy(larger, array, (size_t)count * size);
    if ((size_t)count * size > LARGE)
        pool_drop(pool, array);
    return larger;
}

void *pool_list(Pool *pool, const void *array, int count, size_t size) {
    size_t capacity = 1;
    while (capacity < (size_t)count)
        capacity *= 2;
    void *list = pool_array(pool, capacity, size);
    if (count > 0)
        memcpy(list, array, (size_t)count * size);
    return list;
}
