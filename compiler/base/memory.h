/* memory.h - the compiler's memory: allocated from a pool, freed all at once when the pool is.
 *
 * Nothing is freed one by one, so nobody needs to think of ownership.  A plan that may be given up has a
 * pool of its own, a part of another pool.  It is freed with the whole pool, or before.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Pool Pool;

Pool *pool_new(void);
/* A pool that pool_free() of WHOLE frees, too. */
Pool *pool_part(Pool *whole);
void pool_free(Pool *pool);
/* Says for whom POOL and its parts take memory; the error names it: see out_of_memory_for(). */
void pool_is_for(Pool *pool, const char *net);

/* COUNT zeroed elements of SIZE bytes, aligned for any type.  Never returns NULL: out of memory ends the
 * compiler with exit code 4. */
void *pool_array(Pool *pool, size_t count, size_t size);
char *pool_text(Pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *pool_vtext(Pool *pool, const char *format, va_list arguments);
char *pool_copy(Pool *pool, const char *bytes, size_t length); /* with a closing zero */

/* Makes room for one more element:  list->item = pool_grow(pool, list->item, list->count, sizeof
 * *list->item); list->item[list->count++] = x;   The capacity is the next power of two, so growth is
 * amortised.  ARRAY is gone then; pointers to its elements are, too. */
void *pool_grow(Pool *pool, void *array, int count, size_t size);

/* A copy of the COUNT elements of ARRAY, which pool_grow() may make larger. */
void *pool_list(Pool *pool, const void *array, int count, size_t size);

/* ARRAY is not needed any more: a large one is freed. */
void pool_drop(Pool *pool, const void *array);

#define NEW(pool, type) ((type *)pool_array(pool, 1, sizeof(type)))
#define NEW_ARRAY(pool, type, count) ((type *)pool_array(pool, (size_t)(count), sizeof(type)))
#define PUSH(pool, array, count, element)                                                                  \
    ((array) = pool_grow(pool, array, count, sizeof *(array)), (array)[(count)++] = (element))

#endif
