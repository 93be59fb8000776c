// refusals.cpp - the headers for embedding in C++; what the functions of NAME.h refuse and say; bytes of
// buffers.
#include "cells.h"
#include "tiny_unet.h"

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
    return failures == 0 ? 0 : 1;
}
