/* ranks_secret.h - the secret by which the processes of a job know each other.
 *
 * Requires: the environment, where UNET_JOB_SECRET is the secret, or UNET_JOB_SECRET_FILE names a file that
 * holds it.  Provides: proofs that only those who have the secret can make or check, and bytes that nobody
 * can foresee.  A job without a secret proves nothing, and every proof in it is zeros.
 */
#ifndef UNET_RANKS_SECRET_H
#define UNET_RANKS_SECRET_H

#include "unet/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SECRET_BYTES = 32 }; /* of a key, and of a proof */

/* The cryptography that this takes, from libsodium: it is in an archive of its own (runtime/secret), which
 * programs with `ranks` link where unetc was built with libsodium. */
typedef struct {
    bool (*start)(void);
    void (*draw)(void *bytes, size_t count);
    /* HMAC-SHA256 of TEXT. */
    void (*hash)(uint8_t hash[SECRET_BYTES], const void *key, size_t nkey, const void *text, size_t count);
    /* In a time that does not tell where they differ. */
    bool (*same)(const uint8_t a[SECRET_BYTES], const uint8_t b[SECRET_BYTES]);
} UnetSecretHash;

typedef struct {
    bool given;
    uint8_t key[SECRET_BYTES]; /* of the secret and of the launcher's name for the run */
} Secret;

/* UNET_USAGE where the environment has a secret that cannot be used. */
UNET_MUST_USE UnetStatus secret_find(Secret *secret, UnetError *error);

/* Bytes that nobody can foresee; zeros without a secret. */
void secret_draw(const Secret *secret, void *bytes, size_t count);

void secret_prove(const Secret *secret, const void *text, size_t count, uint8_t proof[SECRET_BYTES]);

/* Whether PROOF proves TEXT, and so comes from someone who has the secret. */
bool secret_is_proved(const Secret *secret, const void *text, size_t count,
                      const uint8_t proof[SECRET_BYTES]);

#endif
