/* object_cache.h - objects of earlier builds: a text that was compiled once is not compiled again.
 *
 * An entry is a file whose name is the SHA-256 of all that an object follows from: the compiler, the
 * processor that it compiles for, its options, and the text with all headers.  Any number of processes may
 * use a cache at a time.  Whatever goes wrong with it, the build goes on without it.
 */
#ifndef OBJECT_CACHE_H
#define OBJECT_CACHE_H

#include "emit/build_program.h"

typedef struct ObjectCache ObjectCache;

/* The files that one call of the compiler reads, and the options that not all calls have. */
typedef struct {
    const SourceFile *const *file;
    int nfile;
    const char *options;
} Compiled;

/* The cache of objects that the command COMPILER makes of SOURCES, which include headers of the runtime in
 * HOME.  It writes to the folder SCRATCH.  NULL: there is none. */
ObjectCache *cache_open(const Words *compiler, const Sources *sources, const char *home,
                        const char *scratch);
/* The name of an entry, or NULL: the object follows from more than is known here. */
const char *cache_key(ObjectCache *cache, const Compiled *compiled);
/* Writes the entry KEY to OBJECT.  False: there is no such entry. */
bool cache_take(const ObjectCache *cache, const char *key, const char *object);
/* OBJECT is the entry KEY from now on. */
void cache_keep(ObjectCache *cache, const char *key, const char *object);
/* Removes what was asked for least recently, if entries were kept and all take too much room. */
void cache_close(const ObjectCache *cache);

#endif
