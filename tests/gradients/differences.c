/* differences.c - the gradients of a generated model against central differences of its loss, in double.
 *
 * Compiled once per model, with MODEL_HEADER and MODEL naming it:
 *
 *   differences SEED N OFFSET...
 *
 * Trains on one random batch of N valid samples with a learning rate of nothing, so that a step computes
 * losses and gradients and leaves the parameters as they are; the gradient of parameter k lies at the k-th
 * OFFSET in the arena; -1: it has none.  Prints, per parameter, the relative error along a random
 * direction.
 *
 * The loss has kinks, where a relu or a maximum changes sides.  A step that crosses one gives a difference
 * that changes when the step is halved: it is then made smaller, and if that does not help, another
 * direction is taken.  Whether a difference is accepted never depends on the gradient it is compared with.
 */
#include MODEL_HEADER
#include "unet/model.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, MOST_INPUTS = 8, ATTEMPTS = 30, STEP_SIZES = 12 };

static const double first_step = 1e-3, agreement = 1e-7, smallest = 1e-5;

typedef struct {
    uint64_t random;
    char *arena;
    void *inputs[MOST_INPUTS];
    int32_t n;
} Run;

static const UnetModel *const model = &MODEL;

_Noreturn static void fail(const char *what) {
    (void)fprintf(stderr, "differences: %s\n", what);
    exit(1);
}

static void *zeroed(int64_t bytes) {
    size_t size = ((size_t)bytes + ALIGN) / ALIGN * ALIGN;
    void *memory = aligned_alloc(ALIGN, size);
    if (memory == NULL)
        fail("out of memory");
    return memset(memory, 0, size);
}

/* In [-1, 1); splitmix64. */
static double random_number(Run *run) {
    uint64_t z = run->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static int64_t count_of(const UnetParameter *p) {
    int64_t count = 1;
    for (int32_t d = 0; d < p->rank; d++)
        count *= p->dim[d];
    return count;
}

static double *values_of(const Run *run, const UnetParameter *p) {
    return (double *)(void *)(run->arena + p->offset);
}

/* ---- a random batch and random parameters -------------------------------------------------------- */

/* Labels of two classes, or three; some count nowhere. */
static uint8_t random_label(Run *run, int32_t classes) {
    const double x = random_number(run);
    return x > 0.8 ? UNET_IGNORED : (uint8_t)((int32_t)(100 * (1 + x)) % classes);
}

static void fill_labels(Run *run, const UnetLayout *layout, int32_t sample, int32_t classes,
                        uint8_t *values) {
    for (int32_t h = 0; h < layout->size[1]; h++)
        for (int32_t w = 0; w < layout->size[2]; w++)
            values[layout->origin + sample * layout->sample + h * layout->row + w] =
                sample < run->n ? random_label(run, classes) : 0;
}

static void fill_sample(Run *run, const UnetLayout *layout, int32_t sample, double *values) {
    for (int32_t c = 0; c < layout->channels; c++)
        for (int32_t d = 0; d < layout->size[0]; d++)
            for (int32_t h = 0; h < layout->size[1]; h++)
                for (int32_t w = 0; w < layout->size[2]; w++)
                    values[layout->origin + sample * layout->sample + c / layout->block * layout->plane +
                           d * layout->depth + h * layout->row + w * layout->block + c % layout->block] =
                        sample < run->n ? random_number(run) : NAN; /* not valid: must count nowhere */
}

static void fill(Run *run) {
    const UnetProgram *program = model->train;
    for (int i = 0; i < model->ninput; i++) {
        run->inputs[i] = zeroed(program->batch * program->inputs[i].sample_bytes);
        for (int32_t sample = 0; sample < program->batch && program->inputs[i].sample_bytes > 0; sample++)
            if (program->inputs[i].type == UNET_U8)
                fill_labels(run, &program->inputs[i], sample, model->inputs[i].classes, run->inputs[i]);
            else
                fill_sample(run, &program->inputs[i], sample, run->inputs[i]);
    }
    for (int k = 0; k < model->nparameter; k++) {
        const UnetParameter *p = &model->parameter[k];
        double scale = p->rank > 1 ? 2 / sqrt((double)count_of(p) / (double)p->dim[0]) : 0.3;
        for (int64_t i = 0; i < count_of(p); i++)
            values_of(run, p)[i] = scale * random_number(run) + (p->rank > 1 ? 0 : 0.2);
    }
}

/* ---- loss, gradient, differences ------------------------------------------------------------------- */

static double loss(Run *run) {
    const void *inputs[MOST_INPUTS];
    for (int i = 0; i < model->ninput; i++)
        inputs[i] = run->inputs[i];
    UnetStep step = {.arena = run->arena, .inputs = inputs, .n = run->n, .threads = 1, .step = 1};
    model->train->run(&step);
    double sum = 0;
    for (int r = 0; r < model->nresult; r++)
        if (model->results[r].kind == UNET_LOSS)
            sum += model->results[r].weight *
                   *(double *)(void *)(run->arena + model->train->result_offsets[r]) / run->n;
    return sum;
}

static double dot(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static double loss_at(Run *run, const UnetParameter *p, const double *centre, const double *direction,
                      double distance) {
    for (int64_t i = 0; i < count_of(p); i++)
        values_of(run, p)[i] = centre[i] + distance * direction[i];
    double value = loss(run);
    memcpy(values_of(run, p), centre, (size_t)count_of(p) * sizeof *centre);
    return value;
}

static double difference(Run *run, const UnetParameter *p, const double *centre, const double *direction,
                         double h) {
    return (loss_at(run, p, centre, direction, h) - loss_at(run, p, centre, direction, -h)) / (2 * h);
}

/* The derivative along DIRECTION; false: every step crosses a kink. */
static bool derivative(Run *run, const UnetParameter *p, const double *centre, const double *direction,
                       double typical, double *result) {
    double h = first_step, whole = difference(run, p, centre, direction, h);
    for (int i = 1; i < STEP_SIZES; i++) {
        h /= 2;
        double half = difference(run, p, centre, direction, h);
        *result = (4 * half - whole) / 3; /* the error of second order cancels */
        if (fabs(whole - half) <= agreement * fmax(fmax(fabs(whole), fabs(half)), typical))
            return true;
        whole = half;
    }
    return false;
}

/* A random direction of all elements: an error in any of them changes the derivative. */
static void choose_direction(Run *run, double *direction, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        direction[i] = random_number(run);
    double length = sqrt(dot(direction, direction, count));
    for (int64_t i = 0; i < count; i++)
        direction[i] /= length;
}

/* Compares the gradient of P with differences of the loss.  LOSS_HERE: the loss at the present parameters.
 */
static void compare(Run *run, const UnetParameter *p, const double *gradient, double loss_here) {
    int64_t count = count_of(p);
    double *centre = zeroed(count * (int64_t)sizeof(double)),
           *direction = zeroed(count * (int64_t)sizeof(double));
    memcpy(centre, values_of(run, p), (size_t)count * sizeof *centre);
    double length = sqrt(dot(gradient, gradient, count)), error = 0;
    /* a gradient that is rounding alone is judged by the size of the loss */
    double typical = fmax(length / sqrt((double)count), smallest * fabs(loss_here));
    bool accepted = false;
    for (int attempt = 0; attempt < ATTEMPTS && !accepted; attempt++) {
        double expected;
        choose_direction(run, direction, count);
        accepted = derivative(run, p, centre, direction, typical, &expected);
        if (accepted) {
            double found = dot(gradient, direction, count);
            error = fabs(found - expected) / fmax(fmax(fabs(found), fabs(expected)), typical);
        }
    }
    printf("%s %d %.3g %.3g\n", p->name, accepted, length, error);
    free(centre);
    free(direction);
}

int main(int argc, char **argv) {
    if (argc != 3 + model->nparameter || model->real != UNET_F64 || model->ninput > MOST_INPUTS)
        fail("bad arguments, or a model that does not compute in double");
    Run run = {.random = strtoull(argv[1], NULL, 10), .n = (int32_t)strtol(argv[2], NULL, 10)};
    run.arena = zeroed(model->train->extent);
    fill(&run);
    double loss_here = loss(&run);
    double **gradients = zeroed(model->nparameter * (int64_t)sizeof *gradients);
    for (int k = 0; k < model->nparameter; k++) {
        int64_t bytes = count_of(&model->parameter[k]) * (int64_t)sizeof(double);
        if (argv[3 + k][0] == '-') /* a running statistic */
            continue;
        gradients[k] = zeroed(bytes);
        memcpy(gradients[k], run.arena + strtoll(argv[3 + k], NULL, 10), (size_t)bytes);
    }
    for (int k = 0; k < model->nparameter; k++) {
        if (gradients[k] != NULL)
            compare(&run, &model->parameter[k], gradients[k], loss_here);
        free(gradients[k]);
    }
    free(gradients);
    for (int i = 0; i < model->ninput; i++)
        free(run.inputs[i]);
    free(run.arena);
    return 0;
}
