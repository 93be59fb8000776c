/* embed_parts.h - the parts of a buffer that holds a model (unet/embed.h), and what its files share. */
#ifndef EMBED_PARTS_H
#define EMBED_PARTS_H

#include "unet/device.h"
#include "unet/embed.h"
#include "unet/normal.h"

/* The front of a buffer. */
typedef struct {
    uint64_t mark;
    const UnetModel *model;
    void *device;                /* of the model's device, or NULL */
    const UnetProgram *prepared; /* the one that ran last; NULL: weights changed since */
    int32_t threads;
    uint64_t seed;
    int64_t steps;
    UnetNormal
        normal[UNET_MOST_NORMALIZED_INPUTS]; /* of those inputs that are normalised, in their order */
} Head;
_Static_assert(sizeof(Head) <= UNET_BUFFER_HEAD, "the head of a buffer");

typedef struct {
    Head *head;
    char *arena, *staged;
    float *row;
    char **input;
} Parts;

/* The parts of a buffer that is ready; false: it is not, which the other says. */
bool embed_find(void *buffer, Parts *parts);
UNET_MUST_USE UnetStatus embed_not_ready(UnetError *error);

/* embed_arrays.c: the points of a sample; whether the model was compiled for the files that its own file
 * names, whose numbers have few bits; UnetDevice.place_of; and what cannot be handed over. */
int64_t embed_points(const UnetLayout *layout);
bool embed_may_round(const UnetModel *model, const UnetLayout *layout);
UnetArrayPlace embed_place_of(const UnetModel *model, const UnetProgram *program, int32_t input,
                              const void *array);
UNET_MUST_USE UnetStatus embed_check_inputs(const UnetModel *model, const UnetProgram *program,
                                            const void *const *inputs, UnetError *error);
UNET_MUST_USE UnetStatus embed_check_outputs(const UnetModel *model, void *const *outputs,
                                             UnetError *error);

/* embed_weights.c: the weights that training starts with, and the numbers that inputs are normalised by. */
void embed_start_weights(const Parts *parts);
/* The numbers of input I; NULL: it is not normalised. */
UnetNormal *embed_normal(const Parts *parts, int32_t i);
/* Weights were changed in this memory; and BYTES at OFFSET of the arena are wanted here. */
UNET_MUST_USE UnetStatus embed_push(const Parts *parts, UnetError *error);
UNET_MUST_USE UnetStatus embed_fetch(const Parts *parts, int64_t offset, int64_t bytes, UnetError *error);

#endif
