/* pattern.h - patterns of file names with stars: the files they match and what the stars stand for; private
 * to the runtime.
 *
 * A star stands for one or more characters of one path component; where a component has several, each takes
 * as little as it can.  The stem of a file is what its stars stand for, joined by '/', which none of them
 * can contain.  Names that start with a dot match only a pattern that does.
 *
 * Two stars stand for a component of their own: any number of folders, none included, which are "a:b" in
 * the stem, or "." for none.  Folders behind symbolic links do not count. */
#ifndef UNET_PATTERN_H
#define UNET_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include "unet/atomic_file.h"
#include "unet/status.h"

typedef struct {
    char **item;
    int32_t count, capacity;
    int32_t other_case; /* files that pattern_expand() left out, whose ending differs from the pattern's in
                           case, */
    char other_name[256]; /* and one of these */
} StemList;

void stems_free(StemList *stems);
bool stems_add(StemList *stems, const char *stem); /* a copy; false without memory */

int pattern_stars(const char *pattern);

/* The path of the file of STEM. */
UNET_MUST_USE UnetStatus pattern_path(char path[UNET_PATH_BYTES], const char *folder, const char *pattern,
                                      const char *stem, UnetError *error);

/* The path of a file called NAME, in which a star is a star. */
UNET_MUST_USE UnetStatus pattern_plain_path(char path[UNET_PATH_BYTES], const char *folder,
                                            const char *name, UnetError *error);

/* The stems of all regular files that match, sorted; none is an error.  A pattern without stars has one
 * stem, "", and is not looked for.  STEMS must be empty; the caller frees it whatever the status. */
UNET_MUST_USE UnetStatus pattern_expand(const char *folder, const char *pattern, StemList *stems,
                                        UnetError *error);

#endif
