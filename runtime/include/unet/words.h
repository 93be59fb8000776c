/* words.h - what a person may have meant by a word that is none of those expected; nouns that agree with
 * their counts; words for a shell; where a text begins. */
#ifndef UNET_WORDS_H
#define UNET_WORDS_H

#include <stddef.h>
#include <string.h>

/* The one of COUNT names that WORD was probably meant to be: a few letters differ, it is the beginning of
 * the name or goes on behind it, or other programs call the same thing so.  Neither case nor `_` for `-`
 * matters.  NULL: none is near. */
const char *unet_nearest_word(const char *word, const char *const *names, int count);

/* "", or "s" where COUNT things need it: "1 sample", "2 samples". */
static inline const char *unet_plural(long long count) {
    return count == 1 ? "" : "s";
}

/* Bytes of the mark that some editors put in front of UTF-8 (BOM): it is no part of TEXT. */
static inline size_t unet_bom_length(const char *text) {
    return strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* Writes WORD to TEXT so that a shell takes it for one word, in quotes where it needs them, or as much as
 * fits of it; returns the length of all of it. */
size_t unet_shell_word(char *text, size_t size, const char *word);

#endif
