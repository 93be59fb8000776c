/* pattern.h - the files that a pattern matches, and the text that its stars stand for; private to the
 * runtime.  The meaning of patterns stands in unet/pattern.h.
 *
 * Names that start with a dot match only a pattern that does.  Two stars are "a:b" in the stem, or "." for
 * no folder.  Folders behind symbolic links do not count. */
#ifndef UNET_PATTERN_FILES_H
#define UNET_PATTERN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "unet/atomic_file.h"
#include "unet/pattern.h"
#include "unet/status.h"

/* ---- lists ------------------------------------------------------------------------------------ */

typedef struct {
    char **item;
    int32_t count, capacity;
} StemList;

void stems_free(StemList *stems);
bool stems_add(StemList *stems, const char *stem); /* a copy; false without memory */

typedef struct {
    char *stem;
    const char *name; /* as the pattern begins: relative where that is */
} FoundFile;

/* Why a file was not taken that one may expect to be. */
typedef enum {
    LEFT_CASE,   /* it differs from the pattern in upper and lower case */
    LEFT_ENDING, /* it has the ending of another format */
    LEFT_OTHER,  /* it is a file of another source */
    LEFT_REASONS
} LeftReason;

typedef struct {
    FoundFile *item; /* sorted by stem, then by name */
    int32_t count, capacity;
    int32_t left[LEFT_REASONS];        /* files that were not taken, */
    char left_name[LEFT_REASONS][256]; /* and the first by name */
} FoundList;

void found_free(FoundList *found);
/* The file of STEM, or NULL. */
FoundFile *found_find(const FoundList *found, const char *stem);
/* Item INDEX is not taken after all, and has no stem until the list is closed up. */
void found_leave(FoundList *found, int32_t index, LeftReason reason);
void found_drop(FoundList *found, int32_t index); /* without a note */
void found_close_up(FoundList *found);

/* ---- patterns --------------------------------------------------------------------------------- */

/* The characters of a part of a pattern's component; END is behind the last. */
typedef struct {
    const char *end;
    const char *ending; /* from here on case does not matter; END: nowhere */
    const char *any;    /* ".*" for any ending, or NULL */
    bool last;          /* of its pattern */
} Component;

Component pattern_component(const char *from);

/* How long the ending of NAME is that says what the file holds; 0: it has none that is known. */
size_t pattern_ending(const char *name);

/* How many characters of the last component are no stars: of two patterns that take a file, the one with
 * more is the one that is meant. */
size_t pattern_letters(const char *pattern);

/* The path of the file of STEM: of braces with the first text, of any ending with ".*". */
UNET_MUST_USE UnetStatus pattern_path(char path[UNET_PATH_BYTES], const char *folder, const char *pattern,
                                      const char *stem, UnetError *error);

/* The path of a file called NAME, in which a star is a star. */
UNET_MUST_USE UnetStatus pattern_plain_path(char path[UNET_PATH_BYTES], const char *folder,
                                            const char *name, UnetError *error);

/* Whether PATTERN takes a file called NAME, which begins as the pattern does. */
bool pattern_takes(const char *pattern, const char *name);

/* All regular files that match, sorted; none is an error.  A pattern without stars has the stem "" and is
 * not looked for.  FOUND must be empty; the caller frees it whatever the status. */
UNET_MUST_USE UnetStatus pattern_expand(const char *folder, const char *pattern, FoundList *found,
                                        UnetError *error);

#endif
