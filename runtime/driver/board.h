/* board.h - what a training run writes for TensorBoard, between train.c and board.c. */
#ifndef BOARD_H
#define BOARD_H

#include "driver.h"

typedef struct Board Board;

/* If --tensorboard asks for it; else *BOARD is NULL, which the other functions take.  DATA: of evaluations,
 * or NULL.  STEP: those done before, of STEPS. */
UNET_MUST_USE UnetStatus board_open(Board **board, Driver *driver, const UnetDataset *data, int64_t step,
                                    int64_t steps);
void board_close(Board *board);

/* The step that ended left its results in ARENA. */
UNET_MUST_USE UnetStatus board_step(Board *board, const char *arena, int32_t n, int64_t step, double rate);

/* An evaluation of the weights on DEVICE measured this. */
UNET_MUST_USE UnetStatus board_evaluation(Board *board, const Tally *tally, int64_t step, Device *device);

#endif
