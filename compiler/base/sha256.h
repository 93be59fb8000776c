/* sha256.h - SHA-256 (FIPS 180-4): equal digests mean equal bytes, whoever chose them. */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

typedef struct {
    uint32_t state[8];
    uint64_t length; /* in bytes, of all that was added */
    uint8_t block[SHA256_BLOCK];
} Sha256;

Sha256 sha256_start(void);
void sha256_add(Sha256 *hash, const void *bytes, size_t count);
/* The digest of all that was added; HASH is of no use then. */
void sha256_end(Sha256 *hash, uint8_t digest[SHA256_BYTES]);

#endif
