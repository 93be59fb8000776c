/* object_key.c - all that an object follows from, as one number.
 *
 * The compiler: its path, size and time, and the macros that it predefines; for -march=native these tell
 * the processor.  Its options.  The text with the headers that it includes from the model and from the
 * runtime.  Comments do not count, for they name the file that the text was made from.  Headers of the C
 * library are left out: objects go with any library of the same interface.
 */
#define _DEFAULT_SOURCE /* strsep() */
#include "emit/object_key.h"

#include "base/sha256.h"
#include "base/table.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const char *name;
    bool quoted; /* "name", not <name> */
} Included;

/* A text without its comments: its digest, and what it includes. */
typedef struct {
    uint8_t digest[SHA256_BYTES];
    Included *included;
    int nincluded;
} Digested;

struct ObjectKeys {
    Pool *pool;
    const Sources *sources;
    const char *home;
    uint8_t compiler[SHA256_BYTES];
    Table number; /* of a name among the texts */
    Digested *text;
    int ntext;
};

/* ---- the compiler ---- */

/* The path at which the shell finds PROGRAM; NULL: there is none. */
static const char *found_program(Pool *pool, const char *program) {
    if (strchr(program, '/') != NULL)
        return program;
    const char *folders = given_or("PATH", "/usr/bin:/bin");
    char *rest = pool_copy(pool, folders, strlen(folders));
    for (char *folder = strsep(&rest, ":"); folder != NULL; folder = strsep(&rest, ":")) {
        const char *path = pool_text(pool, "%s/%s", *folder == '\0' ? "." : folder, program);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

/* The macros that the compiler predefines under its options; NULL: it does not run. */
static const char *macros(const Words *compiler, const char *scratch) {
    Words command = {.pool = compiler->pool};
    for (int i = 0; i < compiler->count; i++)
        add_word(&command, compiler->word[i]);
    add_words(&command, "-dM -E -x c /dev/null");
    return command_output(&command, scratch);
}

static void add_text(Sha256 *hash, const char *text) {
    sha256_add(hash, text, strlen(text) + 1); /* with the zero: "ab", "c" is not "a", "bc" */
}

static bool hash_compiler(ObjectKeys *keys, const Words *compiler, const char *scratch) {
    const char *path = found_program(keys->pool, compiler->word[0]),
               *predefined = path == NULL ? NULL : macros(compiler, scratch);
    struct stat found;
    Sha256 hash = sha256_start();
    if (predefined == NULL || stat(path, &found) != 0)
        return false;
    for (int i = 0; i < compiler->count; i++)
        add_text(&hash, compiler->word[i]);
    add_text(&hash, pool_text(keys->pool, "%s %lld %lld", path, (long long)found.st_size,
                              (long long)found.st_mtime));
    add_text(&hash, predefined);
    sha256_end(&hash, keys->compiler);
    return true;
}

ObjectKeys *object_keys(const Words *compiler, const Sources *sources, const char *home,
                        const char *scratch) {
    ObjectKeys *keys = NEW(compiler->pool, ObjectKeys);
    *keys = (ObjectKeys){.pool = compiler->pool, .sources = sources, .home = home};
    return hash_compiler(keys, compiler, scratch) ? keys : NULL;
}

/* ---- the texts ---- */

/* The text behind a string or a character, which begins at TEXT. */
static const char *behind_quoted(const char *text) {
    const char mark = *text++;
    while (*text != '\0' && *text != mark)
        text += *text == '\\' && text[1] != '\0' ? 2 : 1;
    return *text == '\0' ? text : text + 1;
}

/* The text behind a comment, or TEXT itself: no comment begins there. */
static const char *behind_comment(const char *text) {
    const bool line = strncmp(text, "//", 2) == 0;
    if (!line && strncmp(text, "/*", 2) != 0)
        return text;
    const char *end = strstr(text + 2, line ? "\n" : "*/");
    return end == NULL ? text + strlen(text) : line ? end : end + 2;
}

static char *without_comments(Pool *pool, const char *text) {
    char *copy = pool_array(pool, strlen(text) + 1, 1), *to = copy;
    while (*text != '\0') {
        const char *next = behind_comment(text);
        if (next != text) {
            *to++ = ' ';
        } else {
            next = *text == '"' || *text == '\'' ? behind_quoted(text) : text + 1;
            memcpy(to, text, (size_t)(next - text));
            to += next - text;
        }
        text = next;
    }
    return copy;
}

static void list_included(Pool *pool, const char *text, Digested *into) {
    static const char include[] = "#include ";
    for (const char *at = strstr(text, include); at != NULL; at = strstr(at, include)) {
        at += strlen(include);
        const Included one = {pool_copy(pool, at + 1, strcspn(at + 1, "\">\n")), *at == '"'};
        PUSH(pool, into->included, into->nincluded, one);
    }
}

/* The text of a file of the model, or of a header of the runtime; NULL: there is none. */
static const char *text_of(const ObjectKeys *keys, const char *name) {
    for (int i = 0; i < keys->sources->count; i++)
        if (strcmp(keys->sources->file[i].name, name) == 0)
            return keys->sources->file[i].text->bytes;
    static const char *const place[] = {"include", "include/unet"};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *path = pool_text(keys->pool, "%s/%s/%s", keys->home, place[i], name);
        if (access(path, R_OK) == 0)
            return read_source(keys->pool, path);
    }
    return NULL;
}

/* The number of a text, which is digested when it is asked for first, or -1: there is none. */
static int digest_text(ObjectKeys *keys, const char *name) {
    const int known = table_find(&keys->number, name);
    if (known >= 0)
        return known;
    const char *text = text_of(keys, name);
    if (text == NULL)
        return -1;
    Digested one = {.nincluded = 0};
    const char *bare = without_comments(keys->pool, text);
    Sha256 hash = sha256_start();
    add_text(&hash, bare);
    sha256_end(&hash, one.digest);
    list_included(keys->pool, bare, &one);
    table_set(keys->pool, &keys->number, name, keys->ntext);
    PUSH(keys->pool, keys->text, keys->ntext, one);
    return keys->ntext - 1;
}

/* Adds a text and all that it includes, each once.  A header that is not found by "..." is one that only
 * the compiler can find. */
static bool add_closure(ObjectKeys *keys, Sha256 *hash, Table *seen, Included what) {
    const int number = digest_text(keys, what.name);
    if (number < 0)
        return !what.quoted;
    if (table_find(seen, what.name) >= 0)
        return true;
    table_set(keys->pool, seen, what.name, 1);
    const Digested *text = &keys->text[number];
    const Included *included = text->included; /* which stays where the texts are moved */
    const int nincluded = text->nincluded;
    sha256_add(hash, text->digest, sizeof text->digest);
    for (int i = 0; i < nincluded; i++)
        if (!add_closure(keys, hash, seen, included[i]))
            return false;
    return true;
}

const char *object_key(ObjectKeys *keys, const Compiled *compiled) {
    Sha256 hash = sha256_start();
    Table seen = {0};
    uint8_t digest[SHA256_BYTES];
    const char *key = "";
    sha256_add(&hash, keys->compiler, sizeof keys->compiler);
    add_text(&hash, compiled->options);
    for (int i = 0; i < compiled->nfile; i++)
        if (!add_closure(keys, &hash, &seen, (Included){compiled->file[i]->name, true}))
            return NULL;
    sha256_end(&hash, digest);
    for (int i = 0; i < SHA256_BYTES; i++)
        key = pool_text(keys->pool, "%s%02x", key, digest[i]);
    return key;
}
