/* fake_data.h - a model that has only its data side, over small pictures made on the spot. */
#ifndef FAKE_DATA_H
#define FAKE_DATA_H

#include "unet/dataset.h"
#include "unet/image.h"
#include "unet/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FAKE_INPUTS = 2, FAKE_TERMS = 8, FAKE_HALO = 1 };

typedef struct {
    UnetModel model;
    UnetProgram train, eval;
    UnetData data, eval_data;
    UnetInput inputs[FAKE_INPUTS];
    UnetLayout train_layout[FAKE_INPUTS], eval_layout[FAKE_INPUTS];
    UnetSource source[4];
    UnetSourceTerm term[4][FAKE_TERMS];
    UnetTransform transform[12];
} Fake;

/* Stored point by point with a halo, as the CPU has images of 1 to 4 channels. */
static inline UnetLayout fake_layout(int32_t channels, int32_t height, int32_t width, UnetType type) {
    int64_t row = (int64_t)(width + 2 * FAKE_HALO) * channels;
    int64_t sample = row * (height + 2 * FAKE_HALO);
    return (UnetLayout){.type = type,
                        .channels = channels,
                        .size = {1, height, width},
                        .block = channels,
                        .origin = FAKE_HALO * (row + channels),
                        .sample = sample,
                        .plane = sample,
                        .depth = sample,
                        .row = row,
                        .sample_bytes = sample * (int64_t)unet_type_bytes(type)};
}

static inline void fake_program(UnetProgram *program, const char *name, UnetLayout *layout, int32_t batch,
                                int32_t channels, int32_t height, int32_t width, UnetType type) {
    *program = (UnetProgram){.name = name, .batch = batch, .size = {1, height, width}, .inputs = layout};
    memcpy(program->measured, program->size, sizeof program->size);
    for (int i = 0; i < FAKE_INPUTS; i++) {
        layout[i] = fake_layout(channels, height, width, type);
        program->input_bytes += (batch * layout[i].sample_bytes + 63) / 64 * 64;
    }
}

/* `noisy` and `clean` are images, read from noisy/ and clean/; no transforms; eval uses the holdout. */
static inline int64_t fake_ring_bytes(const UnetModel *model) {
    const int64_t train = model->train->input_bytes, eval = model->eval->input_bytes;
    return model->ring * (train > eval ? train : eval);
}

static inline void fake_pairs(Fake *fake, int32_t batch, int32_t channels, int32_t size, UnetType type) {
    *fake = (Fake){.inputs = {{.name = "noisy", .channels = channels},
                              {.name = "clean", .channels = channels, .is_target = true}}};
    fake->term[0][0] = (UnetSourceTerm){.op = UNET_SRC_FILES, .pattern = "clean/*.png"};
    fake->term[1][0] = (UnetSourceTerm){.op = UNET_SRC_FILES, .pattern = "noisy/*.png"};
    fake->source[0] = (UnetSource){"clean", 1, channels, 1, fake->term[0], NULL, false, false, false, 0};
    fake->source[1] = (UnetSource){"noisy", 0, channels, 1, fake->term[1], NULL, false, false, false, 0};
    fake->data = (UnetData){.source = fake->source, .nsource = 2, .transform = fake->transform};
    fake_program(&fake->train, "train", fake->train_layout, batch, channels, size, size, type);
    fake_program(&fake->eval, "eval", fake->eval_layout, 1, channels, size, size, type);
    fake->model = (UnetModel){.name = "fake",
                              .source = "fake.unet",
                              .real = type,
                              .ninput = FAKE_INPUTS,
                              .inputs = fake->inputs,
                              .train = &fake->train,
                              .eval = &fake->eval,
                              .ring = 3,
                              .data = &fake->data};
    fake->model.loader_ring_bytes = fake_ring_bytes(&fake->model);
}

/* noisy = clean + gaussian(SIGMA), and clean alone is read. */
static inline void fake_noise(Fake *fake, double sigma) {
    fake->term[1][0] = (UnetSourceTerm){.op = UNET_SRC_NAME, .pattern = "clean"};
    fake->term[1][1] = (UnetSourceTerm){.op = UNET_SRC_GAUSSIAN, .value = sigma};
    fake->term[1][2] = (UnetSourceTerm){.op = UNET_SRC_ADD};
    fake->source[1].nterm = 3;
}

static inline void fake_add(Fake *fake, UnetTransform transform) {
    fake->transform[fake->data.ntransform++] = transform;
}

/* The number of channel C of a point of a fake picture, before its division by 255. */
static inline int fake_number(int picture, int32_t c, int32_t y, int32_t x) {
    return (picture * 31 + c * 97 + y * 7 + x * 3) % 256;
}

/* Writes FOLDER/SUB/NAME.png, making SUB. */
static inline void fake_picture(const char *folder, const char *sub, const char *name, int picture,
                                int32_t channels, int32_t height, int32_t width) {
    char path[300];
    UnetImageInfo info = {.width = width, .height = height, .channels = channels, .bits = 8};
    UnetImageWriter *writer;
    UnetError error;
    snprintf(path, sizeof path, "%s/%s", folder, sub);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s.png", folder, sub, name);
    float *row = calloc((size_t)(channels * width), sizeof *row);
    UnetStatus status = unet_image_create(&writer, path, &info, &error);
    for (int32_t y = 0; y < height && status == UNET_OK; y++) {
        for (int32_t i = 0; i < channels * width; i++) {
            row[i] = (float)fake_number(picture, i / width, y, i % width) / 255.0f;
        }
        status = unet_image_write_row(writer, row, &error);
    }
    free(row);
    if (status != UNET_OK || unet_image_finish(writer, &error) != UNET_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
}

#endif
