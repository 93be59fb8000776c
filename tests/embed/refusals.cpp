// refusals.cpp - the headers for embedding in C++: what the functions of NAME.h refuse and say; bytes of
// buffers; volumes, several inputs and outputs; two threads with a buffer each.
#include "cells.h"
#include "tiny_unet.h"
#include "volumes.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
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

// Two threads train one model on buffers of their own: as if each were alone.
static void check_threads() {
    static float photo[2][CELLS_HEIGHT][CELLS_WIDTH];
    static uint8_t truth[2][CELLS_HEIGHT][CELLS_WIDTH];
    double loss[2] = {1, 2};
    for (int i = 0; i < 2 * CELLS_HEIGHT * CELLS_WIDTH; i++) {
        (&photo[0][0][0])[i] = static_cast<float>(i % 17) / 17;
        (&truth[0][0][0])[i] = static_cast<uint8_t>(i / 5 % 3);
    }
    const auto train = [&](int which) {
        UnetError error;
        UnetStatus status = cells_init(cells[which], sizeof cells[which], 2, 3, &error);
        for (int step = 0; step < 20 && status == UNET_OK; step++)
            status = cells_train_step(cells[which], 2, photo[0][0], truth[0][0], CELLS_LEARNING_RATE,
                                      &loss[which], &error);
    };
    std::thread first(train, 0), second(train, 1);
    first.join();
    second.join();
    if (!(loss[0] == loss[1])) {
        std::printf("FAILED: losses of two threads are %g and %g\n", loss[0], loss[1]);
        failures++;
    }
}

// A buffer goes on from where another is: their weights are the same a step later.
static void check_checkpoint(const float *x, const uint8_t *truth) {
    static float weights[2][64 * 64];
    UnetError error;
    double loss = NAN, sums[64] = {0};
    expect(unet_embed_checkpoint(cells[0], "cells.checkpoint.safetensors", &error), UNET_OK, error, "");
    expect(unet_embed_resume(cells[1], "cells.checkpoint.safetensors", &error), UNET_OK, error, "");
    expect(unet_embed_resume(cells[1], "tiny.safetensors", &error), UNET_IO, error, "tiny.safetensors");
    if (unet_embed_steps(cells[1]) != unet_embed_steps(cells[0]) || unet_embed_steps(tiny + 64) != -1) {
        std::printf("FAILED: %d steps\n", static_cast<int>(unet_embed_steps(cells[1])));
        failures++;
    }
    for (int k = 0; k < 2; k++) {
        void *places[] = {weights[k], nullptr, nullptr, nullptr};
        expect(cells_train_step(cells[k], 2, x, truth, 1e-2, &loss, &error), UNET_OK, error, "");
        expect(unet_embed_get(cells[k], places, &error), UNET_OK, error, "");
    }
    if (std::memcmp(weights[0], weights[1], sizeof weights[0]) != 0) {
        std::printf("FAILED: other weights behind a checkpoint\n");
        failures++;
    }
    weights[0][0] = NAN;
    const void *const given[] = {weights[0], nullptr, nullptr, nullptr};
    expect(unet_embed_set(cells[0], given, &error), UNET_USAGE, error, "not finite");
    const void *const inputs[] = {x, truth};
    expect(unet_embed_evaluate(cells[0], 9999, inputs, 0, sums, &error), UNET_USAGE, error, "samples");
    expect(unet_embed_evaluate(cells[0], 1, inputs, 0, sums, &error), UNET_OK, error, "");
    if (unet_embed_sums(&cells_model) > 64 || !(unet_embed_value(&cells_model, 0, sums, 1) > 0)) {
        std::printf("FAILED: a loss of %g in evaluation\n", unet_embed_value(&cells_model, 0, sums, 1));
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
    check_checkpoint(x, truth[0][0]);
    unet_embed_close(cells[0]);
    unet_embed_close(cells[0]);
    expect(cells_forward(cells[0], x, mask[0], &error), UNET_USAGE, error, "call NAME_init first");
    check_volumes();
    check_threads();
    return failures == 0 ? 0 : 1;
}
