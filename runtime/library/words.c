/* words.c - suggests names: by edit distance, by their beginning, by what other programs call them; quotes
 * words for a shell. */
#include "unet/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64, NEAR = 2, SHORTEST_BEGINNING = 3 };

/* A name in other programs, and the name here. */
static const struct {
    const char *theirs, *ours;
} other_words[] = {
    {"learning-rate", "lr"},
    {"memory", "mem"},
    {"budget", "mem"},
    {"ram", "mem"},
    {"vram", "mem"},
    {"max-memory", "mem"},
    {"mem-budget", "mem"},
    {"membudget", "mem"},
    {"memory-budget", "mem"},
    {"memory-limit", "mem"},
    {"save-every", "checkpoint-every"},
    {"resolution", "size"},
    {"image-size", "size"},
    {"dtype", "precision"},
    {"num-threads", "threads"},
    {"jobs", "threads"},
    {"workers", "threads"},
    {"checkpoint", "weights"},
    {"model", "weights"},
    {"num-epochs", "epochs"},
    {"max-epochs", "epochs"},
    {"iterations", "steps"},
    {"max-steps", "steps"},
    {"random-seed", "seed"},
    {"dataset", "data"},
    {"device", "target"},
    {"cuda", "target"},
    {"gpu", "target"},
    {"output-dir", "out"},
};

static int letter(char c) {
    return c == '_' ? '-' : tolower((unsigned char)c);
}

static bool same(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (letter(a[i]) != letter(b[i]))
            return false;
        if (a[i] == '\0')
            return true;
    }
    return true;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* The number of letters to insert, drop, replace or swap with a neighbour to get from A to B; NEAR + 1
 * stands for more. */
static int distance(const char *a, const char *b) {
    int row[3][LONGEST + 1];
    const int na = (int)strnlen(a, LONGEST + 1), nb = (int)strnlen(b, LONGEST + 1);
    if (na > LONGEST || nb > LONGEST || abs(na - nb) > NEAR)
        return NEAR + 1;
    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            const bool equal = letter(a[i - 1]) == letter(b[j - 1]);
            now[j] = least(before[j - 1] + !equal, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
                letter(a[i - 2]) == letter(b[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

/* "micro" of "micro-batches", "batch-size" of "batch". */
static bool begins(const char *word, const char *name) {
    const size_t nword = strlen(word), nname = strlen(name);
    if (nword < nname)
        return nword >= SHORTEST_BEGINNING && same(word, name, nword);
    return nword > nname && nname >= SHORTEST_BEGINNING && letter(word[nname]) == '-' &&
           same(word, name, nname);
}

static bool is_other_word(const char *word, const char *name) {
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strcmp(other_words[i].ours, name) == 0 &&
            same(word, other_words[i].theirs, strlen(other_words[i].theirs) + 1))
            return true;
    return false;
}

/* ADDED behind the LENGTH bytes that TEXT has or, but for its SIZE, would have. */
static size_t put(char *text, size_t size, size_t length, const char *added) {
    if (length < size)
        (void)snprintf(text + length, size - length, "%s", added);
    return length + strlen(added);
}

size_t unet_shell_word(char *text, size_t size, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    const bool quoted = *word == '\0' || word[strspn(word, plain)] != '\0';
    size_t length = 0;
    length = put(text, size, length, quoted ? "'" : "");
    for (; *word != '\0'; word++) {
        const char one[] = {*word, '\0'};
        length = put(text, size, length, *word == '\'' ? "'\\''" : one);
    }
    return put(text, size, length, quoted ? "'" : "");
}

const char *unet_nearest_word(const char *word, const char *const *names, int count) {
    const size_t length = strlen(word); /* another letter makes another word of two: f1 is not l1 */
    int best = (length > 3 ? NEAR : length > 2 ? 1 : 0) + 1, nearest = -1;
    for (int i = 0; i < count; i++) {
        const int d = distance(word, names[i]);
        if (d < best) {
            best = d;
            nearest = i;
        }
    }
    for (int i = 0; nearest < 0 && i < count; i++)
        if (is_other_word(word, names[i]))
            nearest = i;
    for (int i = 0; nearest < 0 && i < count; i++)
        if (begins(word, names[i]))
            nearest = i;
    return nearest < 0 ? NULL : names[nearest];
}
