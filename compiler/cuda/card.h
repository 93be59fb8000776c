/* card.h - the cards that are planned for: what cuDNN is told of a device that is not there. */
#ifndef CUDA_CARD_H
#define CUDA_CARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "ir/target.h"

/* The names that --target=cuda:NAME takes, the usual one first. */
extern const Architecture cuda_cards[];

/* The properties of card NAME in the words of cuDNN (JSON), with a driver of version DRIVER, 13000 for CUDA
 * 13.0; NULL: no card has that name. */
const char *cuda_card_json(Pool *pool, const char *name, size_t driver);

/* The multiprocessors of card NAME; 0: no card has that name. */
int32_t cuda_card_multiprocessors(Pool *pool, const char *name);

/* In a second: products and sums of 16-bit numbers on tensor cores, by the data sheet; the same that a
 * plain kernel of ours is expected to reach; bytes of memory, by the data sheet. */
typedef struct {
    double flops, own_flops, bytes;
} CardSpeed;

CardSpeed cuda_card_speed(Pool *pool, const char *name);

#endif
