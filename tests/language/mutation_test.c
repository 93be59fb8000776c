/* Mutates .unet files and lowers what comes out: whatever the text, the front end must report or succeed,
 * never crash, leak or run on.  The same seed gives the same cases; build with sanitizers to see more.
 *
 *     mutation_test CASES FILE.unet...
 */
#include "front/lower.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

typedef struct {
    char text[ROOM];
    size_t length;
} Sample;

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t limit) {
    return limit == 0 ? 0 : (size_t)(next_random(state) % limit);
}

static bool read_source(const char *path, Sample *source) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    source->length = fread(source->text, 1, ROOM / 2, file);
    fclose(file);
    source->text[source->length] = '\0';
    return true;
}

/* Puts LENGTH bytes in place of DROP bytes at AT. */
static void replace(Sample *source, size_t at, size_t drop, const char *bytes, size_t length) {
    if (at + drop > source->length)
        drop = source->length - at;
    if (source->length - drop + length >= ROOM)
        return;
    memmove(source->text + at + length, source->text + at + drop, source->length - at - drop);
    memcpy(source->text + at, bytes, length);
    source->length += length - drop;
    source->text[source->length] = '\0';
}

typedef struct {
    size_t at, length;
} Piece;

static bool in_word(char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (unsigned)((c | 32) - 'a') < 26;
}

/* The word, name or number, at or behind AT. */
static Piece word_at(const Sample *source, size_t at) {
    while (at < source->length && !in_word(source->text[at]))
        at++;
    while (at > 0 && in_word(source->text[at - 1]))
        at--;
    Piece word = {at, 0};
    while (at + word.length < source->length && in_word(source->text[at + word.length]))
        word.length++;
    return word;
}

static Piece line_at(const Sample *source, size_t at) {
    while (at > 0 && source->text[at - 1] != '\n')
        at--;
    return (Piece){at, strcspn(source->text + at, "\n") + (source->length > at)};
}

/* Mutations that leave most of the grammar intact, so that the later stages get their share. */
static void mutate_gently(Sample *source, uint64_t *state) {
    char copy[512];
    bool lines = below(state, 3) == 0;
    Piece (*piece_at)(const Sample *, size_t) = lines ? line_at : word_at;
    Piece from = piece_at(source, below(state, source->length + 1)),
          to = piece_at(source, below(state, source->length + 1));
    if (from.length > sizeof copy || from.at + from.length > source->length)
        return;
    memcpy(copy, source->text + from.at, from.length);
    replace(source, to.at, lines && below(state, 2) == 0 ? 0 : to.length, copy, from.length);
}

static void mutate(Sample *source, const Sample *other, uint64_t *state) {
    static const char *const words[] = {
        "(",        ")",       "[",      "]",
        "{",        "}",       "->",     "\n",
        "=",        "+=",      ",",      "if ",
        "else",     "for ",    "in ",    "let ",
        "return ",  "layer ",  "block ", "output ",
        "train {",  "-1",      "0",      "9223372036854775807",
        "10**9",    "1e308",   "0.5",    "\"",
        "\"same\"", "true",    "not ",   " or ",
        "#",        ";",       "^",      "8GB",
        "1GiB",     "é",       "\xff",   "range(5)",
        "pop(",     "concat(", "x",      "name = \"a{i}\"",
        "conv(",    "relu",    "upconv", ".",
        ":",        "//",      "%",      "**",
        "\t",       "\r\n",    "len(",   "size(",
    };
    const size_t nword = sizeof words / sizeof *words;
    size_t at = below(state, source->length + 1);
    const char *word = words[below(state, nword)];
    char copy[256];
    size_t length = below(state, sizeof copy), from = below(state, other->length);
    if (below(state, 4) != 0) {
        mutate_gently(source, state);
        return;
    }
    switch (below(state, 5)) {
    case 0: /* drop a few bytes */
        replace(source, at, below(state, 12), "", 0);
        break;
    case 1: /* put a word in */
        replace(source, at, 0, word, strlen(word));
        break;
    case 2: /* put a word in place of some bytes */
        replace(source, at, 1 + below(state, 6), word, strlen(word));
        break;
    case 3: /* put a piece of another file in */
        if (from + length > other->length)
            length = other->length - from;
        memcpy(copy, other->text + from, length);
        replace(source, at, below(state, 20), copy, length);
        break;
    default: /* change one byte, but to none that ends the text */
        if (at < source->length)
            source->text[at] = (char)(1 + below(state, 255));
    }
}

static bool lower_source(const Sample *source, uint64_t number) {
    static const Define define[] = {{"width", "4"}, {"depth", "[1, 2"}};
    Pool *pool = pool_new();
    ErrorFormat format = number % 2 == 0 ? FORMAT_HUMAN : FORMAT_JSON;
    Diag *diag = diag_new(pool, "mutant.unet", source->text, format, COLOR_ALWAYS);
    Ast *ast = parse(pool, diag, source->text);
    Model *model = NULL;
    if (ast != NULL && diag_errors(diag) == 0) {
        LowerOptions options = {
            .path = "mutant.unet", .text = source->text, .define = define, .ndefine = 0};
        options.ndefine = number % 7 == 0 ? 1 + (int)(number % 2) : 0;
        model = lower(pool, diag, ast, &options);
        ast_print(ast, stdout);
    }
    bool sane = model != NULL || diag_errors(diag) > 0; /* a refusal must say why */
    pool_free(pool);
    return sane;
}

int main(int argc, char **argv) {
    static Sample source, other;
    if (argc < 3)
        return 2;
    long cases = strtol(argv[1], NULL, 10), silent = 0;
    size_t nfile = (size_t)argc - 2;
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
        return 4;
    uint64_t state = 2026;
    for (long i = 0; i < cases; i++) {
        if (!read_source(argv[2 + below(&state, nfile)], &source) ||
            !read_source(argv[2 + below(&state, nfile)], &other))
            return 4;
        for (size_t k = 1 + below(&state, 4); k > 0; k--)
            mutate(&source, &other, &state);
        silent += !lower_source(&source, (uint64_t)i);
    }
    return silent > 0 ? 1 : 0;
}
