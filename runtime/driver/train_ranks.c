/* train_ranks.c - a training run of several processes: what they compare and copy at its start, and share
 * in each step and evaluation.
 *
 * All of them have the same weights, sums and decisions.  The first one reads checkpoints, writes files and
 * talks to the user.
 */
#include "train.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (; count >= sizeof hash; at += sizeof hash, count -= sizeof hash) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- at the start ---- */

/* The file that this process runs, and which of its variants. */
static uint64_t hash_program(const UnetModel *model) {
    char piece[65536];
    uint64_t hash = hash_bytes(HASH_START, model->isa, strlen(model->isa));
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; file >= 0 && (n = read(file, piece, sizeof piece)) > 0;)
        hash = hash_bytes(hash, piece, (size_t)n);
    if (file >= 0)
        (void)close(file);
    return hash;
}

/* The samples of DATA by their names, in their order. */
static uint64_t hash_samples(const UnetDataset *data) {
    const int32_t samples = data == NULL ? 0 : unet_dataset_samples(data);
    uint64_t hash = hash_bytes(HASH_START, &samples, sizeof samples);
    for (int32_t i = 0; i < samples; i++) {
        const char *stem = unet_dataset_stem(data, i);
        hash = hash_bytes(hash, stem, strlen(stem) + 1);
    }
    return hash;
}

/* The options that decide how long a run is and its computation. */
static uint64_t hash_options(const UnetOptions *o) {
    const int64_t number[] = {o->epochs, o->steps,     o->batch,   o->seed,    o->checkpoint_every,
                              o->resume, *o->exchange, *o->reduce, *o->overlap};
    return hash_bytes(hash_bytes(HASH_START, number, sizeof number), &o->learning_rate,
                      sizeof o->learning_rate);
}

UnetStatus train_compare_ranks(Run *run) {
    Ranks *ranks = &run->driver->ranks;
    static const char *const what[] = {
        /* in parentheses: clang suspects a missing comma between two literals of a list */
        ("runs another program: copy the same file to all machines; of a program for any processor "
         "(--isa=portable) all must take the same variant: set UNET_ISA"),
        "was given other options: all need the same, but for --threads, --data and --out",
        "finds other training data: all machines need the same files, with the same names",
        "finds other data to evaluate on: all machines need the same files, with the same names"};
    const uint64_t mine[] = {hash_program(run->model), hash_options(&run->driver->options),
                             hash_samples(run->data), hash_samples(run->eval_data)};
    enum { COUNT = sizeof mine / sizeof *mine };
    const char *all;
    UnetStatus status = ranks_say(ranks, mine, sizeof mine, &all, &run->driver->error);
    for (int32_t r = 1; r < ranks->size && status == UNET_OK; r++)
        for (int i = 0; i < COUNT; i++) {
            const size_t at = (size_t)i * sizeof *mine;
            if (memcmp(all + (size_t)r * sizeof mine + at, all + at, sizeof *mine) == 0)
                continue;
            ranks->alike = true;
            return unet_fail(&run->driver->error, UNET_USAGE, "rank %d %s", (int)r, what[i]);
        }
    return status;
}

/* ---- the optimiser's state in slices ---- */

/* One moment: all of it, and the part of this rank, OWN, which belongs at AT. */
typedef struct {
    char *whole, *at, *own;
    size_t bytes;
} Slice;

/* Returns whether moment M is there in slices. */
static bool find_slice(const Run *run, int m, Slice *slice) {
    const UnetSlices *slices = run->training->slices;
    const Ranks *ranks = &run->driver->ranks;
    if (slices == NULL || slices->slice[m] < 0)
        return false;
    const int64_t begin = slices->numbers * ranks->rank / ranks->size,
                  end = slices->numbers * (ranks->rank + 1) / ranks->size;
    char *whole = run->device.arena + slices->whole[m];
    *slice = (Slice){.whole = whole,
                     .at = whole + (size_t)begin * ranks->number,
                     .own = run->device.arena + slices->slice[m],
                     .bytes = (size_t)(end - begin) * ranks->number};
    return true;
}

UnetStatus train_gather_state(Run *run) {
    UnetStatus status = UNET_OK;
    Slice slice;
    for (int m = 0; m < UNET_MOST_MOMENTS && status == UNET_OK; m++) {
        if (!find_slice(run, m, &slice))
            continue;
        memcpy(slice.at, slice.own, slice.bytes);
        status = ranks_gather(&run->driver->ranks, slice.whole, run->training->slices->numbers, false,
                              &run->driver->error);
        run->device.prepared = NULL; /* it lay there, perhaps */
    }
    return status;
}

/* The first rank has the whole of it. */
static UnetStatus scatter_state(Run *run) {
    Ranks *ranks = &run->driver->ranks;
    UnetStatus status = UNET_OK;
    Slice slice;
    for (int m = 0; m < UNET_MOST_MOMENTS && status == UNET_OK; m++) {
        if (!find_slice(run, m, &slice))
            continue;
        const size_t bytes = (size_t)run->training->slices->numbers * ranks->number;
        status = ranks_copy_first(ranks, slice.whole, bytes, &run->driver->error);
        memcpy(slice.own, slice.at, slice.bytes);
    }
    return status;
}

/* All that ranks have alike between two steps: what lives on, but for slices. */
static uint64_t hash_weights(const Run *run) {
    const UnetSlices *slices = run->training->slices;
    const int64_t end = run->model->persistent;
    int64_t begin = 0;
    uint64_t hash = HASH_START;
    for (int m = 0; slices != NULL && m < UNET_MOST_MOMENTS; m++) { /* they lie in this order */
        if (slices->slice[m] < 0)
            continue;
        const int32_t most = run->training->processes;
        hash = hash_bytes(hash, run->device.arena + begin, (size_t)(slices->slice[m] - begin));
        begin = slices->slice[m] + ((slices->numbers - 1) / most + 1) * (int64_t)run->driver->ranks.number;
    }
    return hash_bytes(hash, run->device.arena + begin, (size_t)(end - begin));
}

UnetStatus train_copy_state(Run *run) {
    Ranks *ranks = &run->driver->ranks;
    UnetError *error = &run->driver->error;
    double *const unlogged = run->unlogged;
    const size_t numbers = (size_t)run->state.nunlogged;
    UnetStatus status = ranks_copy_first(ranks, run->device.arena, (size_t)run->model->persistent, error);
    if (status == UNET_OK)
        status = scatter_state(run);
    if (status == UNET_OK)
        status = ranks_copy_first(ranks, &run->state, sizeof run->state, error);
    run->state.unlogged = unlogged;
    if (status == UNET_OK)
        status = ranks_copy_first(ranks, unlogged, numbers * sizeof *unlogged, error);
    return status == UNET_OK
               ? ranks_copy_first(ranks, run->driver->normal,
                                  (size_t)run->model->ninput * sizeof *run->driver->normal, error)
               : status;
}

/* ---- weights ---- */

/* Running statistics belong to the first rank's samples; they have no moments, and weights that are not
 * trained have none. */
static UnetStatus copy_statistics(Run *run) {
    UnetStatus status = device_fetch_weights(&run->device, &run->driver->error);
    for (int32_t i = 0; i < run->model->nparameter && status == UNET_OK; i++) {
        const UnetParameter *p = &run->model->parameter[i];
        size_t elements = 1;
        for (int32_t k = 0; k < p->rank; k++)
            elements *= (size_t)p->dim[k];
        if (p->moments[0] < 0)
            status = ranks_copy_first(&run->driver->ranks, run->device.arena + p->offset,
                                      elements * unet_type_bytes(run->model->real), &run->driver->error);
    }
    return status == UNET_OK ? device_push_weights(&run->device, &run->driver->error) : status;
}

UnetStatus train_compare_weights(Run *run) {
    Ranks *ranks = &run->driver->ranks;
    const char *all;
    UnetStatus status = copy_statistics(run);
    if (status != UNET_OK)
        return status;
    const uint64_t mine = hash_weights(run);
    status = ranks_say(ranks, &mine, sizeof mine, &all, &run->driver->error);
    for (int32_t r = 1; r < ranks->size && status == UNET_OK; r++)
        if (memcmp(all + (size_t)r * sizeof mine, all, sizeof mine) != 0) {
            ranks->alike = true;
            return unet_fail(&run->driver->error, UNET_BUG,
                             "after step %" PRId64
                             " rank %d has other weights than rank 0; the last checkpoint, of step "
                             "%" PRId64 ", is whole",
                             run->state.step, (int)r, run->saved);
        }
    return status;
}

/* ---- results ---- */

static size_t result_numbers(const UnetModel *model) {
    size_t count = 0;
    for (int i = 0; i < model->nresult; i++)
        count += (size_t)unet_result_numbers(&model->results[i]);
    return count;
}

/* Between the arena and one place; in the ARENA they are apart. */
static void pack_results(const UnetModel *model, const UnetProgram *program, const char *arena,
                         double *to) {
    for (int i = 0; i < model->nresult; i++) {
        const size_t count = (size_t)unet_result_numbers(&model->results[i]);
        if (program->result_offsets[i] >= 0)
            memcpy(to, arena + program->result_offsets[i], count * sizeof *to);
        to += count;
    }
}

static void unpack_results(const UnetModel *model, const UnetProgram *program, const double *from,
                           char *arena) {
    for (int i = 0; i < model->nresult; i++) {
        const size_t count = (size_t)unet_result_numbers(&model->results[i]);
        if (program->result_offsets[i] >= 0)
            memcpy(arena + program->result_offsets[i], from, count * sizeof *from);
        from += count;
    }
}

UnetStatus train_share_results(Run *run, int32_t n) {
    Ranks *ranks = &run->driver->ranks;
    const UnetProgram *program = run->model->train;
    const size_t numbers = result_numbers(run->model), bytes = numbers * sizeof *run->said;
    const char *all;
    const double start = machine_seconds();
    pack_results(run->model, program, run->device.arena, run->said);
    const UnetStatus status = ranks_say(ranks, run->said, bytes, &all, &run->driver->error);
    ranks_waited(ranks, start);
    if (status != UNET_OK)
        return status;
    for (int32_t r = 0; r < ranks->size; r++)
        ranks->mail.part[r] = ranks->room + (size_t)r * bytes;
    ranks_add(ranks->mail.part, ranks_with_work(ranks, n), (int64_t)numbers, true);
    unpack_results(run->model, program, ranks->mail.part[0], run->device.arena);
    return UNET_OK;
}

/* ---- identities: one number for each result and sample of a batch ---- */

static int32_t most_samples(const UnetModel *model) {
    const int32_t train = model->train->batch, eval = model->eval != NULL ? model->eval->batch : 0;
    return train > eval ? train : eval;
}

static size_t identity_numbers(const UnetModel *model) {
    return (size_t)model->nresult * (size_t)most_samples(model);
}

static void measure_identities(const Run *run, const Tally *tally, const UnetProgram *program,
                               const UnetBatch *batch, int32_t first, int32_t last, double *to) {
    const size_t each = (size_t)most_samples(run->model);
    for (int i = 0; i < run->model->nresult; i++)
        for (int32_t n = first; n < last; n++)
            to[(size_t)i * each + (size_t)n] = tally_sample_identity(tally, program, batch, i, n);
}

UnetStatus train_share_identities(Run *run, const UnetBatch *batch, int32_t first, int32_t last) {
    Ranks *ranks = &run->driver->ranks;
    const size_t numbers = identity_numbers(run->model), each = (size_t)most_samples(run->model);
    const char *all;
    measure_identities(run, &run->train, run->model->train, batch, first, last, run->said);
    const UnetStatus status =
        ranks_say(ranks, run->said, numbers * sizeof *run->said, &all, &run->driver->error);
    for (int i = 0; i < run->model->nresult && status == UNET_OK; i++)
        for (int32_t n = 0; n < batch->n; n++) {
            const size_t owner = (size_t)(n / ranks->share);
            memcpy(&run->said[(size_t)i * each + (size_t)n],
                   all + (owner * numbers + (size_t)i * each + (size_t)n) * sizeof *run->said,
                   sizeof *run->said);
        }
    if (status == UNET_OK)
        tally_take_identity(&run->train, run->said, (int32_t)each, batch->n);
    return status;
}

/* ---- evaluation: each rank has a batch in turn ---- */

enum { SIGNAL, SAMPLES, HEAD }; /* in front of what a rank says of its batch */

/* Adds what all ranks said, in the order of the batches. */
static void add_round(Run *run, const UnetProgram *program, const char *all, bool identity, int *signal) {
    const UnetModel *model = run->model;
    const size_t results = result_numbers(model), numbers = HEAD + results + identity_numbers(model);
    for (int32_t r = 0; r < run->driver->ranks.size; r++) {
        memcpy(run->said, all + (size_t)r * numbers * sizeof *run->said, numbers * sizeof *run->said);
        const int32_t n = (int32_t)run->said[SAMPLES];
        if (run->said[SIGNAL] > 0)
            *signal = (int)run->said[SIGNAL];
        if (n == 0)
            continue;
        unpack_results(model, program, run->said + HEAD, run->device.arena);
        tally_add(&run->eval, program, run->device.arena, n);
        if (identity)
            tally_take_identity(&run->eval, run->said + HEAD + results, most_samples(model), n);
    }
}

/* The batch of this rank, into what it says. */
static UnetStatus evaluate_batch(Run *run, const UnetProgram *program, const UnetBatch *batch,
                                 bool identity) {
    const UnetStep step = {.arena = run->device.arena,
                           .threads = run->driver->threads,
                           .inputs = batch->inputs,
                           .valid = batch->valid,
                           .n = batch->n};
    const UnetStatus status = device_run(&run->device, program, &step, &run->driver->error);
    const size_t results = result_numbers(run->model);
    run->said[SAMPLES] = batch->n;
    pack_results(run->model, program, run->device.arena, run->said + HEAD);
    if (identity)
        measure_identities(run, &run->eval, program, batch, 0, batch->n, run->said + HEAD + results);
    return status;
}

UnetStatus train_evaluate_ranks(Run *run, int *signal) {
    Ranks *ranks = &run->driver->ranks;
    UnetError *error = &run->driver->error;
    const UnetProgram *program = unet_dataset_program(run->eval_data);
    const UnetStream stream = {.dataset = run->eval_data, .turn = ranks->rank, .turns = ranks->size};
    const int64_t batches = unet_stream_batches(&stream);
    const bool identity = run->eval.identity_samples == 0;
    const size_t numbers = HEAD + result_numbers(run->model) + identity_numbers(run->model);
    tally_clear(&run->eval);
    UnetStatus status = copy_statistics(run);
    if (status == UNET_OK)
        status = unet_loader_begin(run->loader, &stream, error);
    memset(run->said, 0, numbers * sizeof *run->said);
    for (int64_t k = 0; k < batches && status == UNET_OK && *signal == 0; k++) {
        UnetBatch batch;
        const char *all;
        status = device_next_batch(&run->device, run->loader, &batch, error);
        if (status == UNET_OK && k % ranks->size == ranks->rank)
            status = evaluate_batch(run, program, &batch, identity);
        if (status != UNET_OK || ((k + 1) % ranks->size != 0 && k + 1 < batches))
            continue;
        run->said[SIGNAL] = signals_look();
        status = ranks_say(ranks, run->said, numbers * sizeof *run->said, &all, error);
        if (status == UNET_OK)
            add_round(run, program, all, identity, signal);
        memset(run->said, 0, numbers * sizeof *run->said);
    }
    if (identity && (status != UNET_OK || *signal != 0))
        tally_forget_identity(&run->eval);
    return status;
}

UnetStatus train_reserve_ranks(Run *run) {
    const size_t numbers = HEAD + result_numbers(run->model) + identity_numbers(run->model);
    run->said = calloc(numbers, sizeof *run->said);
    if (run->said == NULL)
        return unet_fail(&run->driver->error, UNET_TOO_SMALL, "no memory for what ranks tell each other");
    return ranks_reserve(&run->driver->ranks, numbers * sizeof *run->said, &run->driver->error);
}
