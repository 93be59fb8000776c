/* sample_condition.h - the numbers and pictures that a network reads beside the noisy picture and the time.
 *
 * Each such input has one value for all samples, or several, which the samples take in turns: sample i has
 * value i mod count.  `--condition=NAME=VALUE,...` names the values: numbers, classes or files of pictures.
 * Without the option an input with known classes has all of them.
 */
#ifndef UNET_SAMPLE_CONDITION_H
#define UNET_SAMPLE_CONDITION_H

#include "driver.h"

typedef struct {
    int32_t input;  /* in UnetModel.inputs */
    int32_t count;  /* of values, at least 1 */
    size_t numbers; /* of a value: planar, normalised as the network reads them */
    float *values;
} Condition;

typedef struct {
    Condition *item; /* owned */
    int32_t count;
} Conditions;

/* Makes room for the values of all inputs of the program for prediction but the noisy picture and the time.
 * UNET_USAGE: an option is missing or names no such input.  CONDITIONS can be closed in any case. */
UNET_MUST_USE UnetStatus conditions_open(Conditions *conditions, const Driver *driver, UnetError *error);
void conditions_close(Conditions *conditions);

/* Reads the values, pictures as the network was trained on them: DRIVER knows by what they are normalised.
 * UNET_USAGE: an option is wrong; UNET_IO: a file is. */
UNET_MUST_USE UnetStatus conditions_read(Conditions *conditions, const Driver *driver, UnetError *error);

/* Bytes of all values. */
int64_t conditions_bytes(const Conditions *conditions);

#endif
