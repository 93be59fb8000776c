/* npz.c - see npz.h. */
#include "npz.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256, PART = 1 << 20 };

static bool fail(char why[NPZ_WHY_BYTES], const char *text) {
    (void)snprintf(why, NPZ_WHY_BYTES, "%s", text);
    return false;
}

/* "image" of "image.npy"; false: the entry is no array. */
static bool array_name(unzFile zip, char name[NAME_BYTES]) {
    if (unzGetCurrentFileInfo64(zip, NULL, name, NAME_BYTES, NULL, 0, NULL, 0) != UNZ_OK) {
        return false;
    }
    name[NAME_BYTES - 1] = '\0';
    const size_t length = strlen(name);
    if (length <= 4 || strcmp(name + length - 4, ".npy") != 0) {
        return false;
    }
    name[length - 4] = '\0';
    return true;
}

/* Goes to the entry that is asked for, or to the only one. */
static bool find_entry(unzFile zip, const char *wanted, char why[NPZ_WHY_BYTES]) {
    char name[NAME_BYTES], names[80] = "";
    unz64_file_pos place = {0, 0};
    int arrays = 0;
    for (int code = unzGoToFirstFile(zip); code == UNZ_OK; code = unzGoToNextFile(zip)) {
        if (!array_name(zip, name)) {
            continue;
        }
        if (wanted != NULL && strcmp(name, wanted) == 0) {
            return true;
        }
        arrays++;
        (void)unzGetFilePos64(zip, &place);
        const size_t length = strlen(names);
        (void)snprintf(names + length, sizeof names - length, "%s%.30s", length > 0 ? ", " : "", name);
    }
    if (arrays == 0) {
        return fail(why, "it holds no arrays of NumPy");
    }
    if (arrays == 1 && wanted == NULL) {
        return unzGoToFilePos64(zip, &place) == UNZ_OK || fail(why, "its list of entries is damaged");
    }
    (void)snprintf(why, NPZ_WHY_BYTES, "%s%.40s: it has %s; `entry = \"NAME\"` says which",
                   wanted != NULL ? "no array is called " : "several arrays", wanted != NULL ? wanted : "",
                   names);
    return false;
}

bool npz_enter(unzFile zip, const char *entry, char why[NPZ_WHY_BYTES]) {
    return find_entry(zip, entry, why) &&
           (unzOpenCurrentFile(zip) == UNZ_OK || fail(why, "its entry cannot be opened"));
}

bool npz_read(unzFile zip, uint8_t *bytes, size_t count) {
    while (count > 0) {
        const unsigned part = count < PART ? (unsigned)count : PART;
        const int got = unzReadCurrentFile(zip, bytes, part);
        if (got <= 0) {
            return false;
        }
        bytes += got;
        count -= (size_t)got;
    }
    return true;
}
