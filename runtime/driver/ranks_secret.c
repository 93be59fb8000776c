/* ranks_secret.c - the secret of a job (ranks_secret.h): finds it, and proves texts with it. */
#include "ranks_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Filled in where a program is linked with it (runtime/secret). */
extern const UnetSecretHash unet_secret_hash __attribute__((weak));

enum { LEAST_BYTES = 16, MOST_BYTES = 4096 };

#define MAKE "`openssl rand -hex 16` makes one"

/* Reads a file that its owner alone can read; a line feed in its end is no part of the secret. */
static UnetStatus read_secret(int fd, const char *path, char *text, size_t *length, UnetError *error) {
    struct stat found;
    if (fd < 0 || fstat(fd, &found) != 0)
        return unet_fail(error, UNET_USAGE, "UNET_JOB_SECRET_FILE: %s: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode) || (found.st_uid != geteuid() && found.st_uid != 0))
        return unet_fail(error, UNET_USAGE,
                         "UNET_JOB_SECRET_FILE: %s must be a file of yours: no folder, no pipe, and nobody "
                         "else's",
                         path);
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return unet_fail(error, UNET_USAGE,
                         "UNET_JOB_SECRET_FILE: others may read or write %s: `chmod 600 %s`", path, path);
    const ssize_t count = read(fd, text, MOST_BYTES);
    if (count < 0)
        return unet_fail(error, UNET_USAGE, "UNET_JOB_SECRET_FILE: %s: %s", path, strerror(errno));
    *length = (size_t)count;
    while (*length > 0 && (text[*length - 1] == '\n' || text[*length - 1] == '\r'))
        --*length;
    return UNET_OK;
}

static UnetStatus find_text(const char *given, const char *path, char *text, size_t *length,
                            UnetError *error) {
    if (given == NULL) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const UnetStatus status = read_secret(fd, path, text, length, error);
        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    *length = strnlen(given, MOST_BYTES);
    memcpy(text, given, *length);
    return UNET_OK;
}

/* The same secret serves several runs, which do not take each other for their own. */
static void make_key(Secret *secret, const char *text, size_t length) {
    const char *run = getenv("TORCHELASTIC_RUN_ID");
    const char *name = run != NULL ? run : "";
    unet_secret_hash.hash(secret->key, text, length, name, strlen(name));
}

UnetStatus secret_find(Secret *secret, UnetError *error) {
    const char *given = getenv("UNET_JOB_SECRET"), *path = getenv("UNET_JOB_SECRET_FILE");
    const char *by = given != NULL ? "UNET_JOB_SECRET" : "UNET_JOB_SECRET_FILE";
    char text[MOST_BYTES];
    size_t length = 0;
    *secret = (Secret){.given = false};
    if (given == NULL && path == NULL)
        return UNET_OK;
    if (given != NULL && path != NULL)
        return unet_fail(error, UNET_USAGE,
                         "UNET_JOB_SECRET and UNET_JOB_SECRET_FILE are both set: unset one of them");
    if (&unet_secret_hash == NULL)
        return unet_fail(error, UNET_USAGE,
                         "%s is set, and this program was linked without libsodium, which proves who has "
                         "it: install it (Debian: libsodium-dev), build unetc anew and compile the program "
                         "again. Processes of one machine need no secret: unset %s, and set MASTER_ADDR to "
                         "127.0.0.1",
                         by, by);
    const UnetStatus status = find_text(given, path, text, &length, error);
    if (status != UNET_OK)
        return status;
    if (length < LEAST_BYTES || length == MOST_BYTES)
        return unet_fail(error, UNET_USAGE,
                         "%s has a secret of %zu%s bytes, and one has at least %d and fewer than %d: " MAKE,
                         by, length, length == MOST_BYTES ? " or more" : "", (int)LEAST_BYTES,
                         (int)MOST_BYTES);
    if (!unet_secret_hash.start())
        return unet_fail(error, UNET_IO, "%s: this machine has no random numbers (/dev/urandom)", by);
    secret->given = true;
    make_key(secret, text, length);
    return UNET_OK;
}

void secret_draw(const Secret *secret, void *bytes, size_t count) {
    memset(bytes, 0, count);
    if (secret->given)
        unet_secret_hash.draw(bytes, count);
}

void secret_prove(const Secret *secret, const void *text, size_t count, uint8_t proof[SECRET_BYTES]) {
    memset(proof, 0, SECRET_BYTES);
    if (secret->given)
        unet_secret_hash.hash(proof, secret->key, sizeof secret->key, text, count);
}

bool secret_is_proved(const Secret *secret, const void *text, size_t count,
                      const uint8_t proof[SECRET_BYTES]) {
    uint8_t right[SECRET_BYTES];
    if (!secret->given)
        return true;
    secret_prove(secret, text, count, right);
    return unet_secret_hash.same(right, proof);
}
