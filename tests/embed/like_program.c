/* like_program.c - does with the functions of unet/embed.h what a model's own program does, to be compared:
 *
 *     like_program train STEPS WEIGHTS.safetensors PICTURE...
 *     like_program predict WEIGHTS.safetensors IN OUT.png
 *
 * Pictures are samples of the first input, and behind them as many of the second.
 * Compiled with MODEL, a model with an input and a target, whose header is HEADER. */
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unet/image.h>

#define PASTED(name, suffix) name##suffix
#define PASTE(name, suffix) PASTED(name, suffix)

static const UnetModel *const model = &PASTE(MODEL, _model);
static UnetError error;

static void need(UnetStatus status) {
    if (status != UNET_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit((int)status);
    }
}

static size_t points(const UnetLayout *layout) {
    return (size_t)layout->size[1] * (size_t)layout->size[2];
}

/* Rows of files are planar, and so is a sample. */
static void read_sample(const UnetInput *input, const UnetLayout *layout, const char *path, char *sample) {
    const bool labels = input->kind == UNET_LABELS;
    const size_t width = (size_t)layout->size[2], plane = points(layout);
    float *row = malloc((size_t)layout->channels * width * sizeof *row);
    UnetImageReader *reader;
    need(unet_image_open(&reader, path, labels ? UNET_IMAGE_CLASSES : input->channels, &error));
    for (size_t h = 0; h < (size_t)layout->size[1]; h++) {
        need(unet_image_read_row(reader, row, &error));
        for (size_t x = 0; labels && x < width; x++)
            ((unsigned char *)sample)[h * width + x] = (unsigned char)row[x];
        for (size_t c = 0; !labels && c < (size_t)input->channels; c++)
            memcpy((float *)(void *)sample + c * plane + h * width, row + c * width, width * sizeof *row);
    }
    unet_image_close(reader);
    free(row);
}

/* N samples of input I from these files. */
static void *read_samples(const UnetProgram *program, int i, int n, char **path) {
    const UnetLayout *layout = &program->inputs[i];
    const size_t size = model->inputs[i].kind == UNET_LABELS
                            ? points(layout)
                            : points(layout) * (size_t)layout->channels * sizeof(float);
    char *samples = malloc((size_t)n * size);
    for (int k = 0; k < n; k++)
        read_sample(&model->inputs[i], layout, path[k], samples + (size_t)k * size);
    return samples;
}

static void train(void *buffer, int steps, const char *weights, int n, char **path) {
    void *const inputs[] = {read_samples(model->train, 0, n, path),
                            read_samples(model->train, 1, n, path + n)};
    double loss;
    for (int step = 0; step < steps; step++)
        need(unet_embed_train_step(buffer, n, (const void *const *)inputs, model->training->learning_rate,
                                   &loss, &error));
    need(unet_embed_save(buffer, weights, &error));
    free(inputs[0]);
    free(inputs[1]);
}

static void predict(void *buffer, const char *weights, char **in, const char *out) {
    const UnetLayout *layout = &model->predict->outputs[0];
    const bool labels = model->outputs[0].kind == UNET_LABELS;
    const size_t width = (size_t)layout->size[2], channels = (size_t)layout->channels,
                 plane = points(layout);
    void *const inputs[] = {read_samples(model->predict, 0, 1, in), NULL};
    float *values = malloc(channels * plane * sizeof *values),
          *row = malloc(channels * width * sizeof *row);
    void *const outputs[] = {values};
    const UnetImageInfo info = {.width = layout->size[2],
                                .height = layout->size[1],
                                .channels = layout->channels,
                                .bits = 8,
                                .palette = labels};
    UnetImageWriter *writer;
    need(unet_embed_load(buffer, weights, &error));
    need(unet_embed_forward(buffer, (const void *const *)inputs, outputs, &error));
    need(unet_image_create(&writer, out, &info, &error));
    for (size_t h = 0; h < (size_t)layout->size[1]; h++) {
        for (size_t k = 0; k < channels * width; k++)
            row[k] = labels ? (float)((unsigned char *)values)[h * width + k]
                            : values[k / width * plane + h * width + k % width];
        need(unet_image_write_row(writer, row, &error));
    }
    need(unet_image_finish(writer, &error));
    free(inputs[0]);
    free(values);
    free(row);
}

int main(int argc, char **argv) {
    const size_t bytes = (size_t)unet_embed_bytes(model);
    void *buffer = aligned_alloc(UNET_BUFFER_ALIGN, bytes);
    const UnetModel *const models[] = {model};
    need(unet_embed_init(models, 1, buffer, bytes, 2, 0, &error));
    if (argc > 4 && strcmp(argv[1], "train") == 0)
        train(buffer, atoi(argv[2]), argv[3], (argc - 4) / 2, argv + 4);
    else if (argc == 5)
        predict(buffer, argv[2], argv + 3, argv[4]);
    unet_embed_close(buffer);
    free(buffer);
    return 0;
}
