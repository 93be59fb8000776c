/* tally.c - means of losses and metrics over samples, and the evaluation that fills them. */
#include "driver.h"

#include "unet/class_metrics.h"
#include "unet/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sums --------------------------------------------------------------------------------- */

/* Elements of the longest row of any input: channels * width. */
static size_t longest_row(const UnetModel *model) {
    const UnetProgram *const programs[] = {model->train, model->eval};
    size_t longest = 1;
    for (int p = 0; p < 2; p++)
        for (int i = 0; programs[p] != NULL && i < model->ninput; i++) {
            const UnetLayout *layout = &programs[p]->inputs[i];
            size_t row = (size_t)layout->channels * (size_t)layout->size[2];
            longest = row > longest ? row : longest;
        }
    return longest;
}

/* Pairs of a true and a predicted class. */
static size_t pairs_of(const UnetResult *result) {
    return (size_t)unet_result_numbers(result);
}

UnetStatus tally_create(Tally *tally, const UnetModel *model, UnetError *error) {
    size_t results = (size_t)model->nresult + 1; /* never nothing */
    *tally = (Tally){.model = model};
    tally->sum = calloc(results, sizeof *tally->sum);
    tally->identity_sum = calloc(results, sizeof *tally->identity_sum);
    tally->row = calloc(2 * longest_row(model), sizeof *tally->row);
    tally->pairs = calloc(results, sizeof *tally->pairs);
    bool whole = tally->pairs != NULL;
    for (int i = 0; whole && i < model->nresult; i++)
        if (model->results[i].classes > 0) {
            tally->pairs[i] = calloc(pairs_of(&model->results[i]), sizeof **tally->pairs);
            whole = tally->pairs[i] != NULL;
        }
    if (tally->sum == NULL || tally->identity_sum == NULL || tally->row == NULL || !whole)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the results of a step");
    return UNET_OK;
}

void tally_destroy(Tally *tally) {
    for (int i = 0; tally->pairs != NULL && i < tally->model->nresult; i++)
        free(tally->pairs[i]);
    free(tally->pairs);
    free(tally->sum);
    free(tally->identity_sum);
    free(tally->row);
    *tally = (Tally){.model = NULL};
}

void tally_clear(Tally *tally) {
    tally->samples = 0;
    for (int i = 0; i < tally->model->nresult; i++) {
        tally->sum[i] = 0;
        if (tally->pairs[i] != NULL)
            memset(tally->pairs[i], 0, pairs_of(&tally->model->results[i]) * sizeof **tally->pairs);
    }
}

/* A step leaves whole numbers of a metric of classes. */
static void add_pairs(const Tally *tally, int i, const char *at) {
    const size_t pairs = pairs_of(&tally->model->results[i]);
    for (size_t k = 0; k < pairs; k++) {
        double count;
        memcpy(&count, at + k * sizeof count, sizeof count);
        tally->pairs[i][k] += count;
    }
}

void tally_add(Tally *tally, const UnetProgram *program, const char *arena, int32_t n) {
    tally->samples += n;
    for (int i = 0; i < tally->model->nresult; i++) {
        double sum = NAN;
        if (program->result_offsets[i] >= 0 && tally->pairs[i] != NULL)
            add_pairs(tally, i, arena + program->result_offsets[i]);
        else if (program->result_offsets[i] >= 0)
            memcpy(&sum, arena + program->result_offsets[i], sizeof sum);
        tally->sum[i] += sum;
    }
}

double tally_value(const Tally *tally, int i) {
    if (tally->pairs[i] != NULL)
        return unet_class_metric(&tally->model->results[i], tally->pairs[i]);
    return tally->samples > 0 ? tally->sum[i] / (double)tally->samples : NAN;
}

double tally_identity(const Tally *tally, int i) {
    const UnetResult *result = &tally->model->results[i];
    bool measured = result->identity_input >= 0 && result->target_input >= 0 && tally->identity_samples > 0;
    return measured ? tally->identity_sum[i] / (double)tally->identity_samples : NAN;
}

double tally_loss(const Tally *tally) {
    double loss = 0;
    for (int i = 0; i < tally->model->nresult; i++)
        if (tally->model->results[i].kind == UNET_LOSS)
            loss += tally->model->results[i].weight * tally_value(tally, i);
    return loss;
}

int tally_first_metric(const UnetModel *model) {
    for (int i = 0; i < model->nresult; i++)
        if (model->results[i].kind == UNET_METRIC)
            return i;
    return -1;
}

/* ---- the identity: what doing nothing would score --------------------------------------------- */

static double clamp(float value) {
    return value < 0 ? 0 : value > 1 ? 1 : (double)value;
}

/* The PSNR kernels' definition: peak 1, both sides clamped to 0..1, at most 100 dB. */
static double psnr_of_error(double squared_error, int64_t count) {
    double psnr = -10 * log10(squared_error / (double)count);
    return psnr < 100 ? psnr : 100;
}

static double sample_psnr(const Tally *tally, const UnetProgram *program, const UnetBatch *batch,
                          const UnetResult *result, int32_t n) {
    const UnetLayout *x = &program->inputs[result->identity_input];
    const UnetLayout *t = &program->inputs[result->target_input];
    const int32_t *extent = batch->valid != NULL ? batch->valid[n] : t->size;
    size_t row = (size_t)t->channels * (size_t)t->size[2];
    double sum = 0;
    for (int32_t d = 0; d < extent[0]; d++)
        for (int32_t h = 0; h < extent[1]; h++) {
            unet_layout_load_row(x, batch->inputs[result->identity_input], n, d, h, tally->row);
            unet_layout_load_row(t, batch->inputs[result->target_input], n, d, h, tally->row + row);
            for (int32_t c = 0; c < t->channels; c++)
                for (int32_t w = 0; w < extent[2]; w++) {
                    const float *at = tally->row + (size_t)c * (size_t)t->size[2] + w;
                    double difference = clamp(at[0]) - clamp(at[row]);
                    sum += difference * difference;
                }
        }
    return psnr_of_error(sum, (int64_t)t->channels * extent[0] * extent[1] * extent[2]);
}

/* Both must be read by the program and have the same shape. */
bool tally_has_identity(const UnetProgram *program, const UnetResult *result) {
    if (result->identity_input < 0 || result->target_input < 0 || strcmp(result->metric, "psnr") != 0)
        return false;
    const UnetLayout *x = &program->inputs[result->identity_input];
    const UnetLayout *t = &program->inputs[result->target_input];
    return x->sample_bytes > 0 && t->sample_bytes > 0 && x->channels == t->channels &&
           memcmp(x->size, t->size, sizeof x->size) == 0;
}

double tally_sample_identity(const Tally *tally, const UnetProgram *program, const UnetBatch *batch, int i,
                             int32_t n) {
    const UnetResult *result = &tally->model->results[i];
    return tally_has_identity(program, result) ? sample_psnr(tally, program, batch, result, n) : NAN;
}

void tally_add_identity(Tally *tally, const UnetProgram *program, const UnetBatch *batch) {
    tally->identity_samples += batch->n;
    for (int i = 0; i < tally->model->nresult; i++)
        for (int32_t n = 0; n < batch->n; n++)
            tally->identity_sum[i] += tally_sample_identity(tally, program, batch, i, n);
}

void tally_take_identity(Tally *tally, const double *value, int32_t apart, int32_t n) {
    tally->identity_samples += n;
    for (int i = 0; i < tally->model->nresult; i++)
        for (int32_t k = 0; k < n; k++)
            tally->identity_sum[i] += value[(int64_t)i * apart + k];
}

/* ---- sums that outlive a process -------------------------------------------------------------- */

/* Whether PROGRAM leaves one number of result I to sum. */
static bool is_summed(const Tally *tally, const UnetProgram *program, int i) {
    return program->result_offsets[i] >= 0 && tally->pairs[i] == NULL;
}

static size_t stored_pairs(const UnetModel *model, int i) {
    return model->results[i].classes > 0 ? pairs_of(&model->results[i]) : 0;
}

int64_t tally_numbers(const UnetModel *model) {
    int64_t count = 2;
    for (int i = 0; i < model->nresult; i++)
        count += 2 + (int64_t)stored_pairs(model, i);
    return count;
}

/* A value that is not measured, and NaN in a tally, is 0 in a file. */
void tally_store(const Tally *tally, const UnetProgram *program, double *to) {
    *to++ = (double)tally->samples;
    *to++ = (double)tally->identity_samples;
    for (int i = 0; i < tally->model->nresult; i++) {
        *to++ = is_summed(tally, program, i) ? tally->sum[i] : 0;
        *to++ = tally_has_identity(program, &tally->model->results[i]) ? tally->identity_sum[i] : 0;
        for (size_t k = 0; k < stored_pairs(tally->model, i); k++)
            *to++ = tally->pairs[i][k];
    }
}

static bool is_count(double value) {
    return value >= 0 && value <= 0x1p53;
}

static bool take_count(int64_t *count, double value) {
    *count = is_count(value) ? (int64_t)value : 0;
    return is_count(value);
}

bool tally_restore(Tally *tally, const UnetProgram *program, const double *from) {
    bool good = take_count(&tally->samples, *from++);
    good &= take_count(&tally->identity_samples, *from++);
    for (int i = 0; i < tally->model->nresult; i++) {
        const bool summed = is_summed(tally, program, i) || tally->samples == 0;
        const bool compared =
            tally_has_identity(program, &tally->model->results[i]) || tally->identity_samples == 0;
        tally->sum[i] = summed ? *from : NAN;
        tally->identity_sum[i] = compared ? from[1] : NAN;
        from += 2;
        for (size_t k = 0; k < stored_pairs(tally->model, i); k++) {
            tally->pairs[i][k] = is_count(*from) ? *from : 0;
            good &= is_count(*from++);
        }
    }
    return good;
}

void tally_forget_identity(Tally *tally) {
    tally->identity_samples = 0;
    for (int i = 0; i < tally->model->nresult; i++)
        tally->identity_sum[i] = 0;
}

/* ---- listeners -------------------------------------------------------------------------------- */

UnetStatus tally_listener_create(TallyListener *listener, const UnetModel *model, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int i = 0; i < UNET_STEPS_AHEAD && status == UNET_OK; i++)
        status = tally_create(&listener->tally[i], model, error);
    return status;
}

void tally_listener_destroy(TallyListener *listener) {
    for (int i = 0; i < UNET_STEPS_AHEAD; i++)
        tally_destroy(&listener->tally[i]);
}

/* ---- evaluation ------------------------------------------------------------------------------- */

typedef struct {
    Tally *tally;
    Device *device;
    const UnetProgram *program;
    int64_t begun, ended;              /* batches */
    int32_t samples[UNET_STEPS_AHEAD]; /* of the steps that were begun last */
    bool wants_identity;
    TallyListener *listener;
    UnetStep step;
} Evaluation;

static UnetStatus begin_batch(Evaluation *e, UnetLoader *loader, UnetError *error) {
    UnetBatch batch;
    UnetStatus status = device_next_batch(e->device, loader, &batch, error);
    if (status != UNET_OK)
        return status;
    e->step.step += e->step.n; /* a diffusion draws by the samples before this batch */
    e->step.inputs = batch.inputs;
    e->step.valid = batch.valid;
    e->step.n = batch.n;
    if (e->wants_identity)
        tally_add_identity(e->tally, e->program, &batch);
    if (e->listener != NULL) {
        Tally *own = &e->listener->tally[e->begun % UNET_STEPS_AHEAD];
        tally_forget_identity(own);
        tally_add_identity(own, e->program, &batch);
    }
    e->samples[e->begun++ % UNET_STEPS_AHEAD] = batch.n;
    return device_begin(e->device, e->program, &e->step, error);
}

static UnetStatus end_batch(Evaluation *e, UnetError *error) {
    UnetStatus status = device_end(e->device, error);
    const int32_t n = e->samples[e->ended % UNET_STEPS_AHEAD];
    if (status != UNET_OK)
        return status;
    tally_add(e->tally, e->program, e->device->arena, n);
    if (e->listener != NULL) {
        Tally *own = &e->listener->tally[e->ended % UNET_STEPS_AHEAD];
        tally_clear(own);
        tally_add(own, e->program, e->device->arena, n);
        e->listener->hear(e->listener, own, e->tally->samples - n);
    }
    e->ended++;
    return UNET_OK;
}

UnetStatus tally_evaluate(Tally *tally, UnetLoader *loader, const UnetDataset *dataset, Device *device,
                          int32_t threads, TallyListener *listener, int *signal, UnetError *error) {
    const UnetStream stream = {.dataset = dataset, .batch = listener != NULL && listener->alone ? 1 : 0};
    const int64_t batches = unet_stream_batches(&stream);
    Evaluation e = {.tally = tally,
                    .device = device,
                    .program = unet_dataset_program(dataset),
                    .wants_identity = tally->identity_samples == 0,
                    .listener = listener,
                    .step = {.arena = device->arena, .threads = threads}};
    bool stops = false;
    tally_clear(tally);
    UnetStatus status = unet_loader_begin(loader, &stream, error);
    while (status == UNET_OK && e.ended < (stops ? e.begun : batches)) {
        bool ahead = e.begun - e.ended < device_steps_ahead(device);
        status =
            ahead && !stops && e.begun < batches ? begin_batch(&e, loader, error) : end_batch(&e, error);
        stops = stops || (signal != NULL && (*signal = signals_look()) != 0);
    }
    if (e.wants_identity && (status != UNET_OK || stops))
        tally_forget_identity(tally);
    return status;
}

/* ---- text ------------------------------------------------------------------------------------- */

/* Terms of the loss are the log's. */
void tally_format(const Tally *tally, char *text, size_t size) {
    int n = snprintf(text, size, "loss %.6g", tally_loss(tally));
    for (int i = 0; i < tally->model->nresult && n > 0 && (size_t)n < size; i++) {
        const UnetResult *result = &tally->model->results[i];
        const double value = tally_value(tally, i), identity = tally_identity(tally, i);
        if (result->kind == UNET_LOSS || (isnan(value) && tally->samples > 0))
            continue;
        const bool decibels = strcmp(result->metric, "psnr") == 0;
        n += snprintf(text + n, size - (size_t)n, decibels ? ", %s %.2f dB" : ", %s %.6g", result->name,
                      value);
        if ((size_t)n < size && !isnan(identity))
            n += snprintf(text + n, size - (size_t)n, " (%s %.2f dB, gain %.2f dB)",
                          tally->model->inputs[result->identity_input].name, identity, value - identity);
    }
}
