/* layers.c - see layers.h. */
#include "base/layers.h"

#include <string.h>

/* A star takes as little as fits.  If the rest does not fit, the last star takes one more; the stars before
 * it fit the shortest beginning and need no more. */
static bool matches(const char *pattern, const char *text, size_t length) {
    const char *behind_star = NULL, *taken = text, *end = text + length;
    while (text < end || *pattern != '\0') {
        if (*pattern == '*') {
            behind_star = ++pattern;
            taken = text;
        } else if (text < end && *text == *pattern) {
            pattern++;
            text++;
        } else if (text < end && behind_star != NULL) {
            text = ++taken;
            pattern = behind_star;
        } else {
            return false;
        }
    }
    return true;
}

bool names_layer(const char *pattern, const char *layer) {
    const char *end = layer;
    do {
        end += strcspn(end, ".");
        if (matches(pattern, layer, (size_t)(end - layer)))
            return true;
    } while (*end++ != '\0');
    return false;
}
