/* words.h - the words of the language as the compiler's tables have them, for editors, manuals and
 * completion. */
#ifndef WORDS_H
#define WORDS_H

#include "base/text.h"

/* A line each: its kind, a tab, and the word, or how it is called: "operator\tconv(x, channels, ...)". */
void print_words(Text *out);

#endif
