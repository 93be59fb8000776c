/* atomic_file.h - files that appear whole or not at all.
 *
 * Writing goes to PATH.########.part in the same folder, eight hexadecimal digits that no other file there
 * has; commit makes that durable (fsync), gives it its name in one rename and makes the rename durable.  A
 * crash leaves the old file, or none, and a stale .part, which unet_atomic_clean() takes away.  Only
 * regular files are replaced; where PATH is a symbolic link, the file that it points at is.  Nothing is
 * allocated, so a checkpoint can be written between two steps. */
#ifndef UNET_ATOMIC_FILE_H
#define UNET_ATOMIC_FILE_H

#include <stddef.h>
#include "unet/status.h"

enum { UNET_PATH_BYTES = 4096 }; /* longest path, final zero included */

typedef struct {
    int fd; /* -1: not open */
    char path[UNET_PATH_BYTES];
    char part[UNET_PATH_BYTES];
} UnetAtomicFile;

/* UNET_IO where PATH cannot be written or is something else than a regular file. */
UNET_MUST_USE UnetStatus unet_atomic_open(UnetAtomicFile *file, const char *path, UnetError *error);
/* Removes what runs that were killed left of PATH: parts that no process holds any more and that nobody has
 * written to for a minute. */
void unet_atomic_clean(const char *path);

UNET_MUST_USE UnetStatus unet_atomic_write(UnetAtomicFile *file, const void *data, size_t bytes,
                                           UnetError *error);

/* After commit or abandon FILE is closed, whatever the status. */
UNET_MUST_USE UnetStatus unet_atomic_commit(UnetAtomicFile *file, UnetError *error);
void unet_atomic_abandon(UnetAtomicFile *file);

#endif
