/* statistic.c OFFSET STEPS - trains a model, MODEL of MODEL_HEADER, on inputs that are 0.5 everywhere, and
 * prints the float at OFFSET of the arena after each step; then after a prediction on the same arena. */
#include MODEL_HEADER
#include "unet/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(int64_t bytes) {
    const size_t size = ((size_t)bytes + 64) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    if (memory == NULL)
        exit(1);
    return memset(memory, 0, size);
}

static void run(const UnetProgram *program, char *arena, int64_t step) {
    const void *inputs[2] = {NULL};
    for (int i = 0; i < MODEL.ninput && i < 2; i++) {
        const int64_t bytes = program->batch * program->inputs[i].sample_bytes;
        float *values = zeroed(bytes);
        for (int64_t k = 0; k < bytes / 4; k++)
            values[k] = 0.5F;
        inputs[i] = values;
    }
    const UnetStep told = {.arena = arena,
                           .inputs = inputs,
                           .n = (int32_t)program->batch,
                           .threads = 2,
                           .learning_rate = 1e-3,
                           .step = step};
    program->run(&told);
    for (int i = 0; i < 2; i++)
        free((void *)inputs[i]);
}

static void print(const char *arena, long offset) {
    float value;
    memcpy(&value, arena + offset, sizeof value);
    printf("%.9g\n", (double)value);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const long offset = strtol(argv[1], NULL, 10), steps = strtol(argv[2], NULL, 10);
    const int64_t train = MODEL.train->extent, predict = MODEL.predict->extent;
    char *arena = zeroed(train > predict ? train : predict);
    for (long step = 1; step <= steps; step++) {
        run(MODEL.train, arena, step);
        print(arena, offset);
    }
    run(MODEL.predict, arena, 1);
    print(arena, offset);
    free(arena);
    return 0;
}
