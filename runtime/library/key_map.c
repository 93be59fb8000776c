/* key_map.c - see key_map.h. */
#include "key_map.h"
#include "unet/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20, MAX_STARS = 8 };

typedef struct {
    const char *theirs, *ours; /* OURS is "" where the tensor is left out */
    int line;
} Rule;

struct KeyMap {
    char *text; /* of the file; rules point into it */
    Rule *rule;
    int nrule;
    char path[];
};

/* ---- reading ---------------------------------------------------------------------------------- */

static UnetStatus fail_line(const KeyMap *map, int line, UnetError *error, const char *why) {
    return unet_fail(error, UNET_IO, "%s:%d: %s", map->path, line, why);
}

static UnetStatus read_text(KeyMap *map, UnetError *error) {
    FILE *file = fopen(map->path, "rb");
    if (file == NULL) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", map->path, strerror(errno));
    }
    map->text = malloc(MAX_BYTES + 1);
    size_t length = map->text != NULL ? fread(map->text, 1, MAX_BYTES + 1, file) : 0;
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (map->text == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", map->path);
    }
    if (failed) {
        return unet_fail(error, UNET_IO, "%s: cannot read", map->path);
    }
    if (length > MAX_BYTES) {
        return unet_fail(error, UNET_IO, "%s: longer than 1 MiB: this is no map of names", map->path);
    }
    map->text[length] = '\0';
    if (strlen(map->text) != length) {
        return unet_fail(error, UNET_IO, "%s: holds a byte 0: this is no map of names", map->path);
    }
    return UNET_OK;
}

/* Without blanks around it. */
static char *trimmed(char *text) {
    static const char blanks[] = " \t\r";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        length--;
    }
    text[length] = '\0';
    return text;
}

static int count_stars(const char *text) {
    int stars = 0;
    for (; *text != '\0'; text++) {
        stars += *text == '*';
    }
    return stars;
}

static UnetStatus parse_line(KeyMap *map, char *text, int line, UnetError *error) {
    text[strcspn(text, "#")] = '\0';
    text = trimmed(text);
    if (*text == '\0') {
        return UNET_OK;
    }
    char *arrow = strstr(text, "->");
    if (arrow == NULL) {
        return fail_line(map, line, error, "write `NAME IN THE FILE -> NAME IN THE MODEL`");
    }
    *arrow = '\0';
    const Rule rule = {.theirs = trimmed(text), .ours = trimmed(arrow + 2), .line = line};
    if (*rule.theirs == '\0') {
        return fail_line(map, line, error, "no name stands in front of `->`");
    }
    if (count_stars(rule.theirs) > MAX_STARS) {
        return fail_line(map, line, error, "more than 8 stars");
    }
    if (count_stars(rule.ours) > count_stars(rule.theirs)) {
        return fail_line(map, line, error, "more stars behind `->` than in front of it");
    }
    map->rule[map->nrule++] = rule;
    return UNET_OK;
}

static UnetStatus parse(KeyMap *map, UnetError *error) {
    size_t lines = 1;
    for (const char *at = map->text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    map->rule = calloc(lines, sizeof *map->rule);
    if (map->rule == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", map->path);
    }
    UnetStatus status = UNET_OK;
    char *text = map->text + unet_bom_length(map->text);
    for (int line = 1; text != NULL && status == UNET_OK; line++) {
        char *end = strchr(text, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        status = parse_line(map, text, line, error);
        text = end;
    }
    return status;
}

UnetStatus key_map_open(KeyMap **map, const char *path, UnetError *error) {
    size_t length = strlen(path) + 1;
    *map = NULL;
    KeyMap *opened = calloc(1, sizeof *opened + length);
    if (opened == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    memcpy(opened->path, path, length);
    UnetStatus status = read_text(opened, error);
    if (status == UNET_OK) {
        status = parse(opened, error);
    }
    if (status != UNET_OK) {
        key_map_close(opened);
        return status;
    }
    *map = opened;
    return UNET_OK;
}

void key_map_close(KeyMap *map) {
    if (map == NULL) {
        return;
    }
    free(map->rule);
    free(map->text);
    free(map);
}

/* ---- names ------------------------------------------------------------------------------------ */

typedef struct {
    const char *begin;
    size_t length;
} Part;

/* Does NAME fit PATTERN?  PART: what its stars stand for. A star that fits too little grows, the last one
 * first; only that one need ever grow, for those before it fit the shortest beginning. */
static bool fits(const char *pattern, const char *name, Part part[MAX_STARS]) {
    const char *after_star = NULL;
    int stars = 0;
    while (*name != '\0' || *pattern != '\0') {
        if (*pattern == '*') {
            part[stars++] = (Part){name, 0};
            after_star = ++pattern;
        } else if (*name != '\0' && *pattern == *name) {
            pattern++, name++;
        } else if (after_star != NULL && *name != '\0') {
            Part *last = &part[stars - 1];
            last->length++;
            name = last->begin + last->length;
            pattern = after_star;
        } else {
            return false;
        }
    }
    return true;
}

static UnetStatus substitute(const KeyMap *map, const Rule *rule, const Part *part, char to[KEY_MAP_NAME],
                             UnetError *error) {
    size_t used = 0;
    for (const char *from = rule->ours; *from != '\0'; from++) {
        const Part piece = *from == '*' ? *part++ : (Part){from, 1};
        if (piece.length >= KEY_MAP_NAME - used) {
            return fail_line(map, rule->line, error, "makes a name of more than 511 characters");
        }
        if (piece.length > 0) {
            memcpy(to + used, piece.begin, piece.length);
        }
        used += piece.length;
    }
    to[used] = '\0';
    return UNET_OK;
}

UnetStatus key_map_name(const KeyMap *map, const char *name, bool *found, char to[KEY_MAP_NAME],
                        UnetError *error) {
    *found = false;
    for (int i = 0; i < map->nrule; i++) {
        Part part[MAX_STARS] = {{NULL, 0}};
        *found = fits(map->rule[i].theirs, name, part);
        if (*found) {
            return substitute(map, &map->rule[i], part, to, error);
        }
    }
    return UNET_OK;
}
