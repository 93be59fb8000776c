/* hash.c - the cryptography of a job's secret (runtime/driver/ranks_secret.h), from libsodium. */
#include "../driver/ranks_secret.h"

#include <sodium.h>

_Static_assert(SECRET_BYTES == crypto_auth_hmacsha256_BYTES, "a proof is an HMAC-SHA256");

static bool start(void) {
    return sodium_init() >= 0;
}

static void draw(void *bytes, size_t count) {
    randombytes_buf(bytes, count);
}

static void hash(uint8_t result[SECRET_BYTES], const void *key, size_t nkey, const void *text,
                 size_t count) {
    crypto_auth_hmacsha256_state state;
    (void)crypto_auth_hmacsha256_init(&state, key, nkey);
    (void)crypto_auth_hmacsha256_update(&state, text, count);
    (void)crypto_auth_hmacsha256_final(&state, result);
}

static bool same(const uint8_t a[SECRET_BYTES], const uint8_t b[SECRET_BYTES]) {
    return sodium_memcmp(a, b, SECRET_BYTES) == 0;
}

const UnetSecretHash unet_secret_hash = {.start = start, .draw = draw, .hash = hash, .same = same};
