// refusals.cpp - the headers for embedding in C++: what the functions of NAME.h refuse and say; bytes of
// buffers; volumes, several inputs and outputs.
#include "cells.h"
#include "tiny_unet.h"
#include "volumes.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <unet/image.h>
#include <unet/parameters.h>
#include <unet/safetensors.h>

alignas(UNET_BUFFER_ALIGN) static char tiny[TINY_UNET_BUFFER_BYTES], cells[2][CELLS_BUFFER_BYTES];
static int failures = 0;

static void expect(UnetStatus got, UnetStatus wanted, const UnetError &error, const char *text) {
    if (got == wanted && (got == UNET_OK || std::strstr(error.text, text) != nullptr))
        return;
    std::printf("FAILED: status %d and not %d, \"%s\" and not \"%s\"\n", got, wanted, error.text, text);
    failures++;
}

// One output is the sum of the inputs, the other a convolution of both, three times over, by the weights of
// the buffer.
static void check_volumes() {
    enum { POINTS = VOLUMES_DEPTH * VOLUMES_HEIGHT * VOLUMES_WIDTH };
    alignas(UNET_BUFFER_ALIGN) static char buffer[VOLUMES_BUFFER_BYTES];
    static float in[2][3][POINTS], sum[3][POINTS], wide[18][POINTS];
    UnetError error;
    for (int i = 0; i < 2 * 3 * POINTS; i++)
        in[i / POINTS / 3][i / POINTS % 3][i % POINTS] = static_cast<float>(i * 7 % 31) / 31;
    expect(volumes_init(buffer, sizeof buffer, 1, 0, &error), UNET_OK, error, "");
    expect(volumes_forward(buffer, in[0][0], in[1][0], sum[0], wide[0], &error), UNET_OK, error, "");
    const char *arena = buffer + UNET_BUFFER_HEAD;
    const auto *weight = reinterpret_cast<const float *>(arena + volumes_model.parameter[0].offset);
    const auto *bias = reinterpret_cast<const float *>(arena + volumes_model.parameter[1].offset);
    double of_sum = 0, of_wide = 0;
    for (int p = 0; p < POINTS; p++) {
        for (int c = 0; c < 3; c++)
            of_sum = std::fmax(of_sum, std::fabs(sum[c][p] - in[0][c][p] - in[1][c][p]));
        for (int k = 0; k < 18; k++) {
            double wanted = bias[k];
            for (int c = 0; c < 18; c++)
                wanted += weight[k * 18 + c] * in[c / 3 % 2][c % 3][p];
            of_wide = std::fmax(of_wide, std::fabs(wide[k][p] - wanted));
        }
    }
    if (!(of_sum < 1e-6 && of_wide < 1e-5)) {
        std::printf("FAILED: volumes are wrong by %g and %g\n", of_sum, of_wide);
        failures++;
    }
}

int main() {
    static float photo[2][CELLS_HEIGHT][CELLS_WIDTH];
    static uint8_t truth[2][CELLS_HEIGHT][CELLS_WIDTH], mask[CELLS_HEIGHT][CELLS_WIDTH];
    const float *const x = photo[0][0];
    UnetError error;
    double loss = NAN;
    if (unet_embed_bytes(&tiny_unet_model) != TINY_UNET_BUFFER_BYTES ||
        unet_embed_bytes(&cells_model) != CELLS_BUFFER_BYTES) {
        std::printf("FAILED: BUFFER_BYTES\n");
        failures++;
    }
    expect(cells_forward(cells[0], x, mask[0], &error), UNET_USAGE, error, "call NAME_init first");
    expect(cells_init(cells[0], sizeof cells[0] - 1, 1, 0, &error), UNET_USAGE, error, "needs");
    expect(cells_init(cells[0] + 4, sizeof cells[0], 1, 0, &error), UNET_USAGE, error, "aligned");
    for (auto &buffer : cells)
        expect(cells_init(buffer, sizeof buffer, 0, 7, &error), UNET_OK, error, "");
    expect(cells_train_step(cells[0], 0, x, truth[0][0], 1e-2, &loss, &error), UNET_USAGE, error,
           "0 samples");
    expect(cells_train_step(cells[0], 3, x, truth[0][0], 1e-2, &loss, &error), UNET_USAGE, error, "1 to 2");
    expect(cells_train_step(cells[0], 1, x, nullptr, 1e-2, &loss, &error), UNET_USAGE, error, "truth");
    expect(unet_embed_load(cells[0], "nowhere.safetensors", &error), UNET_IO, error, "nowhere.safetensors");
    expect(cells_train_step(cells[0], 2, x, truth[0][0], 1e-2, &loss, &error), UNET_OK, error, "");
    if (!(loss > 0 && std::isfinite(loss))) {
        std::printf("FAILED: the loss is %g\n", loss);
        failures++;
    }
    expect(cells_forward(cells[1], x, nullptr, &error), UNET_OK, error, ""); // an output that nobody wants
    expect(tiny_unet_init(tiny, sizeof tiny, 1, 0, &error), UNET_OK, error, "");
    static float frame[3 * TINY_UNET_HEIGHT * TINY_UNET_WIDTH];
    expect(tiny_unet_forward(tiny, frame, frame, &error), UNET_OK, error, "");
    expect(unet_embed_save(tiny, "tiny.safetensors", &error), UNET_OK, error,
           ""); // a buffer knows its model
    expect(unet_embed_load(cells[0], "tiny.safetensors", &error), UNET_IO, error, "tiny.safetensors");
    unet_embed_close(cells[0]);
    unet_embed_close(cells[0]);
    expect(cells_forward(cells[0], x, mask[0], &error), UNET_USAGE, error, "call NAME_init first");
    check_volumes();
    return failures == 0 ? 0 : 1;
}
