/* object_key.h - names for objects, from all that an object follows from. */
#ifndef OBJECT_KEY_H
#define OBJECT_KEY_H

#include "emit/object_cache.h"

typedef struct ObjectKeys ObjectKeys;

/* The part that all keys of a build share, see cache_open().  NULL: the compiler does not say what it is.
 */
ObjectKeys *object_keys(const Words *compiler, const Sources *sources, const char *home,
                        const char *scratch);
const char *object_key(ObjectKeys *keys, const Compiled *compiled);

#endif
