/* memory.h - the compiler's memory: allocated from a pool, freed all at once when the compiler is done.
 *
 * A compiler runs for milliseconds, so nothing is freed one by one; nobody needs to think of ownership.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Pool Pool;

Pool *pool_new(void);
void pool_free(Pool *pool);

/* COUNT zeroed elements of SIZE bytes, aligned for any type.  Never returns NULL: out of memory ends the
 * compiler with exit code 4. */
void *pool_array(Pool *pool, size_t count, size_t size);
char *pool_text(Pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *pool_vtext(Pool *pool, const char *format, va_list arguments);
char *pool_copy(Pool *pool, const char *bytes, size_t length); /* with a closing zero */

/* Makes room for one more element:  list->item = pool_grow(pool, list->item, list->count, sizeof
 * *list->item); list->item[list->count++] = x;   The capacity is the next power of two, so growth is
 * amortised. */
void *pool_grow(Pool *pool, void *array, int count, size_t size);

#define NEW(pool, type) ((type *)pool_array(pool, 1, sizeof(type)))
#define NEW_ARRAY(pool, type, count) ((type *)pool_array(pool, (size_t)(count), sizeof(type)))
#define PUSH(pool, array, count, element)                                                                  \
    ((array) = pool_grow(pool, array, count, sizeof *(array)), (array)[(count)++] = (element))

#endif
