/* runtime_folder.c - where the runtime library is: $UNETC_RUNTIME, or a place that follows from the place
 * of unetc itself, so that a build or an installation may be moved as a whole.
 *
 * Requires: /proc.  Provides: no path that was known when unetc was built.
 */
#include "emit/build_program.h"

#include <string.h>
#include <unistd.h>

/* The folder of the file that runs, whatever links lead to it; NULL: unknown. */
static const char *own_folder(Pool *pool) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || (size_t)length == sizeof path)
        return NULL;
    while (length > 1 && path[length - 1] != '/')
        length--;
    return pool_copy(pool, path, (size_t)length - 1);
}

/* PLACE in FOLDER: "../lib/unetc" in "/usr/bin" is "/usr/lib/unetc". */
static const char *place_in(Pool *pool, const char *folder, const char *place) {
    size_t length = strlen(folder);
    for (; strncmp(place, "../", 3) == 0; place += 3)
        while (length > 0 && folder[--length] != '/')
            continue;
    return pool_text(pool, "%.*s/%s", (int)length, folder, place);
}

const char *runtime_folder(Pool *pool) {
    static const char *const place[] = {UNETC_RUNTIME_BUILT, UNETC_RUNTIME_INSTALLED};
    const char *given = given_or("UNETC_RUNTIME", NULL), *own = own_folder(pool);
    if (given != NULL)
        return given;
    for (size_t i = 0; own != NULL && i < sizeof place / sizeof *place; i++) {
        const char *folder = place_in(pool, own, place[i]);
        if (access(pool_text(pool, "%s/libunet_runtime.a", folder), R_OK) == 0)
            return folder;
    }
    environment_error("the runtime library is neither in %s/" UNETC_RUNTIME_BUILT
                      " nor in %s/" UNETC_RUNTIME_INSTALLED
                      ": move unetc together with it, or set UNETC_RUNTIME to the folder that "
                      "`unetc --runtime` printed",
                      own == NULL ? "?" : own, own == NULL ? "?" : own);
}
