/* dataset_partner.c - a file without its partner: the message names the file that the other pattern asks
 * for, and, where a file is there whose name differs from it in case or in how its letters are written,
 * says so.
 *
 * The letter ä may be one code point (U+00E4) or two (a, U+0308): macOS writes two, others one, and both
 * look the same.  Names are taken for alike where they are equal without case, without all that is not
 * ASCII, and without the ASCII letters that have a mark behind them. */
#include "dataset_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_BYTES = 256, POINTS_BYTES = 40 };

/* ---- code points ------------------------------------------------------------------------------ */

/* Returns the code point at *AT, which goes behind it; a byte that is no UTF-8 is a code point by itself.
 */
static uint32_t next_point(const char **at) {
    const unsigned char *c = (const unsigned char *)*at;
    const int more = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : c[0] >= 0xc0 ? 1 : 0;
    uint32_t point = more == 0 ? c[0] : c[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            (*at)++;
            return c[0];
        }
        point = point << 6 | (c[i] & 0x3fu);
    }
    *at += more + 1;
    return point;
}

/* Marks that stand over or under the letter before. */
static bool is_mark(uint32_t point) {
    return point >= 0x300 && point <= 0x36f;
}

static bool has_mark(const char *name) {
    while (*name != '\0') {
        if (is_mark(next_point(&name))) {
            return true;
        }
    }
    return false;
}

/* By what names are alike. */
static void make_key(const char *name, char key[KEY_BYTES]) {
    size_t length = 0;
    bool letter = false; /* the point before is in the key */
    while (*name != '\0' && length + 1 < KEY_BYTES) {
        const uint32_t point = next_point(&name);
        if (point < 0x80) {
            key[length++] = (char)tolower((int)point);
        } else if (is_mark(point) && letter) {
            length--;
        }
        letter = point < 0x80;
    }
    key[length] = '\0';
}

static int by_key(const void *a, const void *b) {
    char one[KEY_BYTES], other[KEY_BYTES];
    make_key((*(FoundFile *const *)a)->stem, one);
    make_key((*(FoundFile *const *)b)->stem, other);
    return strcmp(one, other);
}

/* Returns a file of SIDE whose stem is like the stem of FILE, or NULL. */
static const FoundFile *find_alike(FileSide *side, const FoundFile *file) {
    const size_t count = (size_t)side->found.count;
    if (side->alike == NULL && (side->alike = calloc(count + 1, sizeof *side->alike)) != NULL) {
        for (size_t i = 0; i < count; i++) {
            side->alike[i] = &side->found.item[i];
        }
        qsort(side->alike, count, sizeof *side->alike, by_key);
    }
    const FoundFile **found =
        side->alike != NULL ? bsearch(&file, side->alike, count, sizeof *side->alike, by_key) : NULL;
    return found != NULL ? *found : NULL;
}

/* ---- the message ------------------------------------------------------------------------------ */

/* "U+0061 U+0308": the letter of NAME from AT on. */
static void write_points(const char *at, char text[POINTS_BYTES]) {
    const char *next = at;
    int n = snprintf(text, POINTS_BYTES, "U+%04X", next_point(&next));
    while (*next != '\0' && n > 0 && n < POINTS_BYTES) {
        const uint32_t point = next_point(&next);
        if (!is_mark(point)) {
            return;
        }
        n += snprintf(text + n, POINTS_BYTES - (size_t)n, " U+%04X", point);
    }
}

/* The first letter in which two names differ begins here. */
static size_t first_difference(const char *one, const char *other) {
    size_t begin = 0;
    const char *a = one, *b = other;
    while (*a != '\0' && *b != '\0') {
        const size_t at = (size_t)(a - one);
        if (next_point(&a) != next_point(&b)) {
            /* the marks of a letter belong to the one before */
            const char *here = one + at, *there = other + at;
            return is_mark(next_point(&here)) || is_mark(next_point(&there)) ? begin : at;
        }
        begin = at;
    }
    return begin;
}

/* How the stems of two files differ that look alike. */
static void explain(const FoundFile *file, const FoundFile *alike, UnetError *error) {
    if (strcasecmp(file->stem, alike->stem) == 0) {
        unet_fail_more(error,
                       "; %.200s is there, which differs in upper and lower case: rename one of them",
                       alike->name);
    } else if (has_mark(file->stem) != has_mark(alike->stem)) {
        char one[POINTS_BYTES], other[POINTS_BYTES];
        const size_t at = first_difference(file->stem, alike->stem);
        write_points(file->stem + at, one);
        write_points(alike->stem + at, other);
        unet_fail_more(error,
                       "; %.200s is there, which looks the same and is written with other code points (%s "
                       "for %s): `convmv -f utf8 -t utf8 --nfc --notest -r FOLDER` writes all alike",
                       alike->name, other, one);
    }
}

UnetStatus dataset_missing_partner(const char *folder, const FileSide *present, const FoundFile *file,
                                   FileSide *absent, UnetError *error) {
    char path[UNET_PATH_BYTES], partner[UNET_PATH_BYTES];
    UnetStatus status = pattern_plain_path(path, folder, file->name, error);
    if (status == UNET_OK) {
        status = pattern_path(partner, folder, absent->pattern, file->stem, error);
    }
    if (status != UNET_OK) {
        return status;
    }
    const size_t length = strlen(absent->pattern);
    const bool any = length > 0 && absent->pattern[length - 1] == '*' && strstr(partner, ".*") == NULL;
    status = unet_fail(error, UNET_IO, "%.300s has no partner: \"%.100s\" asks for %.300s%s", path,
                       absent->pattern, partner, any ? ".*" : "");
    const FoundFile *alike = present->stars == absent->stars ? find_alike(absent, file) : NULL;
    if (alike != NULL) {
        explain(file, alike, error);
    }
    return status;
}
