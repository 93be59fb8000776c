/* words.h - what a person may have meant by a word that is none of those expected; nouns that agree with
 * their counts. */
#ifndef UNET_WORDS_H
#define UNET_WORDS_H

/* The one of COUNT names that WORD was probably meant to be: a few letters differ, it is the beginning of
 * the name or goes on behind it, or other programs call the same thing so.  Neither case nor `_` for `-`
 * matters.  NULL: none is near. */
const char *unet_nearest_word(const char *word, const char *const *names, int count);

/* "", or "s" where COUNT things need it: "1 sample", "2 samples". */
static inline const char *unet_plural(long long count) {
    return count == 1 ? "" : "s";
}

#endif
