/* npz.h - an array in an archive of NumPy, where the build has libminizip; private to the runtime. */
#ifndef UNET_NPZ_H
#define UNET_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <minizip/unzip.h>

enum { NPZ_EXPANSION = 1100, NPZ_WHY_BYTES = 160 }; /* Deflate expands 1032 times at most */

/* Opens the array called ENTRY, or, where that is NULL, the only one; false: WHY says why not. */
bool npz_enter(unzFile zip, const char *entry, char why[NPZ_WHY_BYTES]);

/* The next COUNT bytes of it; false: there are fewer. */
bool npz_read(unzFile zip, uint8_t *bytes, size_t count);

#endif
