// contest.cpp - two networks in one process learn to denoise the same frames, side by side:
//
//     contest [STEPS]
//
// Weights are left in tiny_unet.safetensors and simple_denoiser.safetensors, which the programs that unetc
// builds of these networks read as well; and a frame in noisy.png.
#include "simple_denoiser.h"
#include "tiny_unet.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unet/image.h>
#include <vector>

static const int H = TINY_UNET_HEIGHT, W = TINY_UNET_WIDTH;
static_assert(SIMPLE_DENOISER_HEIGHT == H && SIMPLE_DENOISER_WIDTH == W, "both see the same frames");

alignas(UNET_BUFFER_ALIGN) static char tiny[TINY_UNET_BUFFER_BYTES], simple[SIMPLE_DENOISER_BUFFER_BYTES];

static void need(UnetStatus status, const UnetError &error) {
    if (status != UNET_OK) {
        std::fprintf(stderr, "contest: %s\n", error.text);
        std::exit(status);
    }
}

// Waves of some random direction and colour; and the same with noise.
static void draw(std::mt19937 &random, std::vector<float> &clean, std::vector<float> &noisy) {
    std::uniform_real_distribution<float> phase(0, 6.28F), wave(-0.2F, 0.2F);
    std::normal_distribution<float> noise(0, 0.1F);
    const float across = wave(random), down = wave(random);
    for (int c = 0; c < 3; c++) {
        const float shift = phase(random);
        for (int at = 0; at < H * W; at++) {
            const float angle = across * static_cast<float>(at % W) + down * static_cast<float>(at / W);
            const std::size_t i = static_cast<std::size_t>(c * H * W + at);
            clean[i] = 0.5F + 0.4F * std::sin(angle + shift);
            noisy[i] = clean[i] + noise(random);
        }
    }
}

// The runtime writes pictures row by row, each as three planes.
static void write_frame(const std::vector<float> &frame, const char *path, UnetError &error) {
    UnetImageInfo info = {};
    info.width = W;
    info.height = H;
    info.channels = 3;
    info.bits = 8;
    UnetImageWriter *writer;
    std::vector<float> row;
    need(unet_image_create(&writer, path, &info, &error), error);
    for (int y = 0; y < H; y++) {
        row.clear();
        for (int c = 0; c < 3; c++)
            row.insert(row.end(), &frame[(c * H + y) * W], &frame[(c * H + y) * W] + W);
        need(unet_image_write_row(writer, row.data(), &error), error);
    }
    need(unet_image_finish(writer, &error), error);
}

int main(int argc, char **argv) {
    const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
    std::vector<float> clean(3 * H * W), noisy(3 * H * W);
    std::mt19937 random(1);
    UnetError error;
    need(tiny_unet_init(tiny, sizeof tiny, 0, 0, &error), error);
    need(simple_denoiser_init(simple, sizeof simple, 0, 0, &error), error);
    for (int step = 1; step <= steps; step++) {
        double of_tiny, of_simple;
        draw(random, clean, noisy);
        need(tiny_unet_train_step(tiny, 1, noisy.data(), clean.data(), TINY_UNET_LEARNING_RATE, &of_tiny,
                                  &error),
             error);
        need(simple_denoiser_train_step(simple, 1, noisy.data(), clean.data(),
                                        SIMPLE_DENOISER_LEARNING_RATE, &of_simple, &error),
             error);
        if (step == 1 || step % 20 == 0)
            std::printf("step %3d: loss %.5f of tiny_unet, %.5f of simple_denoiser\n", step, of_tiny,
                        of_simple);
    }
    need(unet_embed_save(tiny, "tiny_unet.safetensors", &error), error);
    need(unet_embed_save(simple, "simple_denoiser.safetensors", &error), error);
    write_frame(noisy, "noisy.png", error);
    return 0;
}
