/* key_map.h - other names for the tensors of a file; private to the runtime.
 *
 * A map is a text file; each line says `THEIRS -> OURS`, an empty line and text behind a '#' say nothing.
 * A '*' in THEIRS stands for any characters, dots included, as few as fit; the stars of OURS take the text
 * that the stars of THEIRS stood for, in order.  The first line that fits a name counts; `THEIRS ->` leaves
 * the tensor out; a name that no line fits stays.
 */
#ifndef UNET_KEY_MAP_H
#define UNET_KEY_MAP_H

#include <stdbool.h>
#include "unet/status.h"

typedef struct KeyMap KeyMap;

/* On failure *MAP is NULL, and the error names PATH and the line. */
UNET_MUST_USE UnetStatus key_map_open(KeyMap **map, const char *path, UnetError *error);
void key_map_close(KeyMap *map); /* NULL is fine */

enum { KEY_MAP_NAME = 512 }; /* longest name that is made, final zero included */

/* The other name of NAME in TO: "" where the tensor is left out; *FOUND: whether a line fits.  Fails where
 * the name that is made is too long. */
UNET_MUST_USE UnetStatus key_map_name(const KeyMap *map, const char *name, bool *found,
                                      char to[KEY_MAP_NAME], UnetError *error);

#endif
