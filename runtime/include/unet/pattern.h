/* pattern.h - the meaning of patterns of file names: "day_*.{png,jpg}".
 *
 * A star stands for one or more characters of one path component; if a component has several, each takes
 * as little as it can.  Two stars are a component of their own: any number of folders.  Braces hold several
 * texts, and one of them stands there, without stars or slashes.  The stem of a file is the text of its
 * stars, joined by
 * '/', which none of them can contain; files with the same stem belong together.
 *
 * An ending says what a file holds, and is no part of its stem.  From the first dot behind the last star on
 * upper and lower case do not matter: "*.jpg" takes a.JPG.  A star at the end of a pattern takes a name
 * without its ending: "scan_*" takes scan_a.jpg with the stem a.  So does ".*" behind another star. */
#ifndef UNET_PATTERN_H
#define UNET_PATTERN_H

#include <stdbool.h>

/* How many stars a stem stands for. */
int unet_pattern_stars(const char *pattern);

/* Why PATTERN is none, as one sentence, or NULL. */
const char *unet_pattern_mistake(const char *pattern);

/* Whether both take the same files: they are equal but for the case of their endings. */
bool unet_pattern_same(const char *one, const char *other);

#endif
