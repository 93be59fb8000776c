/* loader_test.c - the loader: batches in order and equal for any number of threads and slots, tails, order
 * of epochs, starting in the middle, switching streams, failures, shutting down at any moment. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "check.h"
#include "fake_data.h"
#include "recorded.h"
#include "unet/loader.h"
#include "unet/rng.h"

#include <dlfcn.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

enum { PICTURES = 13, BATCHES = 17 };

typedef struct {
    Fake fake;
    UnetDataset *data, *eval_data;
    UnetLoader *loader;
} Setup;

/* Whatever changes a window. */
static void add_all_transforms(Fake *fake) {
    fake_add(fake, (UnetTransform){.op = UNET_DO_SCALE, .p = 1, .amount = {0.8, 1.5}});
    fake_add(fake, (UnetTransform){.op = UNET_DO_ROTATE, .p = 0.7, .amount = {30}});
    fake_add(fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = UNET_PAD_REFLECT});
    fake_add(fake, (UnetTransform){.op = UNET_DO_ROT90, .p = 1});
    fake_add(fake, (UnetTransform){.op = UNET_DO_ELASTIC, .p = 0.8, .amount = {2, 3}});
    fake_add(fake, (UnetTransform){.op = UNET_DO_DISTORT, .p = 0.5, .amount = {0.4, 0.4, 0.4, 30}});
    fake_add(fake, (UnetTransform){.op = UNET_DO_GAMMA, .p = 0.5, .amount = {0.7, 1.4}});
    fake_add(fake, (UnetTransform){.op = UNET_DO_BLUR, .p = 0.5, .amount = {0.5, 1.5}});
    fake_add(fake, (UnetTransform){.op = UNET_DO_NOISE, .p = 0.5, .amount = {0.1}});
}

/* The loader of a model that is complete. */
static void open_loader(Setup *setup, int32_t threads, int32_t ring) {
    UnetError error;
    setup->fake.eval_data = setup->fake.data;
    setup->fake.model.eval_data = &setup->fake.eval_data;
    setup->fake.model.ring = ring;
    setup->fake.model.loader_ring_bytes = fake_ring_bytes(&setup->fake.model);
    CHECK_OK(
        unet_dataset_open(&setup->data, &setup->fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
        error);
    CHECK_OK(unet_dataset_open(&setup->eval_data, &setup->fake.model, UNET_EVALUATION,
                               unet_in_folder(folder), &error),
             error);
    const UnetDataset *both[] = {setup->data, setup->eval_data};
    CHECK_OK(unet_loader_create(&setup->loader, &setup->fake.model, both, 2, threads, ring, &error), error);
    CHECK(unet_loader_bytes(&setup->fake.model, both, 2, threads, ring) >
              (size_t)(ring * setup->fake.train.input_bytes),
          "the size of the loader");
}

static void start_with(Setup *setup, int32_t threads, int32_t ring, bool all) {
    fake_pairs(&setup->fake, 4, 3, 8, UNET_F32);
    fake_noise(&setup->fake, 0.1);
    if (all) {
        add_all_transforms(&setup->fake);
    } else {
        fake_add(&setup->fake, (UnetTransform){.op = UNET_DO_CROP, .random = true});
        fake_add(&setup->fake, (UnetTransform){.op = UNET_DO_FLIP, .axes = 6, .p = 0.5});
    }
    open_loader(setup, threads, ring);
}

static void start(Setup *setup, int32_t threads, int32_t ring) {
    start_with(setup, threads, ring, false);
}

static void stop(Setup *setup) {
    unet_loader_destroy(setup->loader);
    unet_dataset_close(setup->data);
    unet_dataset_close(setup->eval_data);
}

static uint64_t checksum_samples(const UnetBatch *batch, const UnetProgram *program, int32_t first,
                                 int32_t last) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (int i = 0; i < FAKE_INPUTS; i++) {
        const unsigned char *bytes = batch->inputs[i];
        for (int64_t b = first * program->inputs[i].sample_bytes;
             b < last * program->inputs[i].sample_bytes; b++) {
            sum = (sum ^ bytes[b]) * 0x100000001b3u;
        }
    }
    return sum;
}

static uint64_t checksum(const UnetBatch *batch, const UnetProgram *program) {
    return checksum_samples(batch, program, 0, batch->n);
}

/* The checksums of COUNT batches from batch FIRST. */
static void run(const Setup *setup, int64_t first, int count, uint64_t *sums) {
    UnetError error;
    UnetStream stream = {.dataset = setup->data, .seed = 9, .shuffle = true, .first = first};
    CHECK_OK(unet_loader_begin(setup->loader, &stream, &error), error);
    for (int i = 0; i < count; i++) {
        UnetBatch batch;
        CHECK_OK(unet_loader_next(setup->loader, &batch, &error), error);
        CHECK(batch.index == first + i, "batch %d came as %d", (int)(first + i), (int)batch.index);
        CHECK(batch.n == (batch.index % 4 == 3 ? 1 : 4), "batch %d has %d samples", (int)batch.index,
              batch.n);
        CHECK(batch.valid == NULL, "training has no valid part");
        CHECK((uintptr_t)batch.inputs[0] % 64 == 0 && (uintptr_t)batch.inputs[1] % 64 == 0, "alignment");
        sums[i] = checksum(&batch, &setup->fake.train);
    }
}

static void test_threads(bool all) {
    uint64_t expected[BATCHES];
    Setup setup;
    start_with(&setup, 1, 1, all);
    run(&setup, 0, BATCHES, expected);
    for (int i = 1; i < BATCHES; i++) {
        CHECK(expected[i] != expected[i - 1], "two batches are equal");
    }
    stop(&setup);
    for (int32_t threads = 1; threads <= 6; threads++) {
        uint64_t sums[BATCHES];
        start_with(&setup, threads, 2 + threads % 3, all);
        run(&setup, 0, BATCHES, sums);
        CHECK(memcmp(sums, expected, sizeof sums) == 0, "%d threads make other batches", threads);
        run(&setup, 6, BATCHES - 6, sums);
        CHECK(memcmp(sums, expected + 6, (BATCHES - 6) * sizeof *sums) == 0, "started in the middle");
        stop(&setup);
    }
}

/* Each of several processes reads its share of each batch, into slots that hold no more. */
static void test_share(void) {
    enum { PROCESSES = 2, SHARE = 4 / PROCESSES };
    uint64_t whole[BATCHES][4];
    for (int process = -1; process < PROCESSES; process++) {
        Setup setup;
        UnetError error;
        size_t bytes;
        start(&setup, 3, 2);
        const UnetDataset *both[] = {setup.data, setup.eval_data};
        UnetStream stream = {.dataset = setup.data, .seed = 9, .shuffle = true};
        int32_t first = 0, last = 4;
        if (process >= 0) {
            unet_loader_destroy(setup.loader);
            setup.fake.model.loader_ring_bytes = 0;
            for (int i = 0; i < FAKE_INPUTS; i++) { /* in each of two slots */
                setup.fake.model.loader_ring_bytes +=
                    2 * ((SHARE * setup.fake.train_layout[i].sample_bytes + 63) / 64 * 64);
            }
            CHECK_OK(unet_loader_create(&setup.loader, &setup.fake.model, both, 2, 3, 2, &error), error);
            first = stream.mine_first = process * SHARE;
            last = stream.mine_last = first + SHARE;
        }
        (void)unet_loader_memory(setup.loader, &bytes);
        CHECK(bytes == (size_t)setup.fake.model.loader_ring_bytes, "%zu bytes in all slots", bytes);
        CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        for (int k = 0; k < BATCHES; k++) {
            UnetBatch batch;
            CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
            for (int32_t n = first; n < last && n < batch.n; n++) {
                const uint64_t sum = checksum_samples(&batch, &setup.fake.train, n, n + 1);
                whole[k][n] = process < 0 ? sum : whole[k][n];
                CHECK(sum == whole[k][n], "process %d has another sample %d of batch %d", process, (int)n,
                      k);
            }
        }
        stop(&setup);
    }
}

/* How many places there are among COUNT batches of a consumer that takes no time; ENOUGH: ends the count.
 */
static int places(const Setup *setup, int count, int enough) {
    const void *seen[8];
    UnetError error;
    UnetBatch batch;
    int n = 0;
    for (int i = 0; i < count && n < enough; i++) {
        CHECK_OK(unet_loader_next(setup->loader, &batch, &error), error);
        bool known = false;
        for (int k = 0; k < n; k++) {
            known = known || seen[k] == batch.inputs[0];
        }
        if (!known && n < 8) {
            seen[n++] = batch.inputs[0];
        }
    }
    return n;
}

/* The first batches share a slot; who waits for each gets them all.  On a busy machine the consumer itself
 * may be late many times, so it is given many batches. */
static void test_slots(void) {
    enum { SLOTS = 3, MANY = 20000 };
    Setup setup;
    UnetError error;
    start(&setup, 2, SLOTS);
    UnetStream stream = {.dataset = setup.data, .shuffle = true};
    CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
    CHECK(places(&setup, 5, SLOTS) == 1, "slots are opened before anything is known");
    CHECK(places(&setup, MANY, SLOTS) == SLOTS, "a consumer that waits gets all slots");
    CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
    CHECK(places(&setup, MANY, SLOTS) == SLOTS, "the next stream has them, too");
    stop(&setup);
}

/* Samples come in PyTorch's order. */
static void test_order(void) {
    Setup setup;
    UnetError error;
    start(&setup, 3, 3);
    for (int dropped = 0; dropped < 2; dropped++) {
        UnetStream stream = {
            .dataset = setup.data, .seed = 9, .skip = 1000, .shuffle = true, .drop_tail = dropped == 1};
        int64_t per_epoch = unet_stream_batches(&stream);
        CHECK(per_epoch == 4 - dropped, "%d batches", (int)per_epoch);
        CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        for (int k = 0; k < 3 * per_epoch; k++) {
            UnetBatch batch;
            CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
            for (int i = 0; i < batch.n; i++) {
                int64_t place = k / per_epoch * PICTURES + k % per_epoch * 4 + i;
                CHECK(batch.samples[i] == recorded_order_after[place], "place %d has sample %d", (int)place,
                      batch.samples[i]);
            }
        }
    }
    stop(&setup);
}

/* Training, an evaluation in between, and training goes on as if there had been none. */
static void test_switching(void) {
    uint64_t expected[BATCHES], sums[BATCHES], evaluations[2][PICTURES];
    Setup setup;
    UnetError error;
    start(&setup, 3, 3);
    run(&setup, 0, BATCHES, expected);
    for (int turn = 0; turn < 2; turn++) {
        run(&setup, 0, 5, sums);
        UnetStream stream = {.dataset = setup.eval_data, .seed = (uint64_t)turn};
        CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        for (int i = 0; i < PICTURES; i++) {
            UnetBatch batch;
            CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
            CHECK(batch.n == 1 && batch.samples[0] == i, "evaluation goes in order");
            CHECK(batch.valid != NULL && batch.valid[0][1] == 8, "the valid part of an evaluation");
            evaluations[turn][i] = checksum(&batch, &setup.fake.eval);
        }
        run(&setup, 5, BATCHES - 5, sums + 5);
        CHECK(memcmp(sums, expected, sizeof sums) == 0, "turn %d: training goes on elsewhere", turn);
    }
    CHECK(memcmp(evaluations[0], evaluations[1], sizeof evaluations[0]) == 0, "two evaluations differ");
    stop(&setup);
}

/* A file that goes bad after the start is the error of its batch, and of no earlier one. */
static void test_failure(void) {
    for (int32_t threads = 1; threads <= 4; threads += 3) {
        Setup setup;
        UnetError error;
        UnetBatch batch;
        size_t length;
        char path[100];
        start(&setup, threads, 3);
        snprintf(path, sizeof path, "%s/clean/p06.png", folder);
        unsigned char *bytes = read_bytes(path, &length);
        write_bytes(path, bytes, 60);
        UnetStream stream = {.dataset = setup.data, .seed = 9};
        CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
        CHECK_FAILS(unet_loader_next(setup.loader, &batch, &error), error, "p06.png");
        CHECK(unet_loader_next(setup.loader, &batch, &error) == UNET_BUG, "more batches after a failure");
        write_bytes(path, bytes, length);
        free(bytes);
        CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
        stop(&setup);
    }
}

/* Threads stop at once, whether idle, waiting for a slot or in the middle of a sample. */
static void test_shutdown(void) {
    for (int i = 0; i < 20; i++) {
        Setup setup;
        UnetError error;
        UnetBatch batch;
        start(&setup, 1 + i % 5, 2);
        UnetStream stream = {.dataset = setup.data, .shuffle = true};
        for (int turn = 0; turn < i % 3; turn++) {
            CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        }
        if (i % 3 == 2) {
            CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
        }
        struct timespec nap = {.tv_nsec = i * 300000L};
        nanosleep(&nap, NULL);
        stop(&setup);
    }
    unet_loader_destroy(NULL);
}

static void test_refusals(void) {
    Setup setup;
    UnetError error;
    UnetBatch batch;
    start(&setup, 1, 2);
    CHECK(unet_loader_next(setup.loader, &batch, &error) == UNET_BUG, "a batch without a stream");
    setup.fake.train.batch = 14;
    UnetStream stream = {.dataset = setup.data, .drop_tail = true};
    CHECK_FAILS(unet_loader_begin(setup.loader, &stream, &error), error,
                "13 samples do not fill a batch of 14");
    stream.drop_tail = false;
    CHECK(unet_loader_begin(setup.loader, &stream, &error) == UNET_BUG, "a batch larger than the slots");
    CHECK(unet_loader_threads(&setup.fake.model) >= 1, "threads by default");
    UnetLoaderWait wait = unet_loader_wait(setup.loader);
    CHECK(wait.batches == 0 && wait.seconds == 0, "nobody waited");
    stop(&setup);
}

/* Once all files of a set that is kept were read, threads allocate nothing, whatever is done to a sample.
 * Only where tests/driver/count_allocations.c counts. */
static void test_allocations(long (*count)(void)) {
    uint64_t sums[BATCHES];
    Setup setup;
    start_with(&setup, 3, 2, true);
    run(&setup, 0, BATCHES, sums);
    const long first = count();
    for (int i = 0; i < 5; i++) {
        run(&setup, 4 * i, BATCHES, sums);
    }
    CHECK(first > 0, "nothing was counted");
    CHECK(count() == first, "%ld allocations behind the first epochs", count() - first);
    stop(&setup);
}

/* Files that are not kept, as files of evaluation, are decoded each time, and a thread that has decoded all
 * of them once allocates nothing more. */
static void test_decoders(long (*count)(void), const char *pattern) {
    enum { PASSES = 6, WARM = 2 };
    Setup setup;
    UnetError error;
    uint64_t first[PICTURES];
    long before = 0;
    fake_pairs(&setup.fake, 4, 3, 8, UNET_F32);
    setup.fake.term[0][0].pattern = setup.fake.term[1][0].pattern = pattern;
    fake_add(&setup.fake, (UnetTransform){.op = UNET_DO_CROP});
    open_loader(&setup, 1, 2);
    for (int pass = 0; pass < PASSES; pass++) {
        before = pass == WARM ? count() : before;
        UnetStream stream = {.dataset = setup.eval_data};
        CHECK_OK(unet_loader_begin(setup.loader, &stream, &error), error);
        for (int i = 0; i < PICTURES; i++) {
            UnetBatch batch;
            CHECK_OK(unet_loader_next(setup.loader, &batch, &error), error);
            const uint64_t sum = checksum(&batch, &setup.fake.eval);
            first[i] = pass == 0 ? sum : first[i];
            CHECK(sum == first[i], "%s: picture %d is another in pass %d", pattern, i, pass);
        }
    }
    CHECK(count() == before, "%s: %ld allocations behind the first passes", pattern, count() - before);
    stop(&setup);
}

static void make_jpegs(void) {
    for (int i = 0; i < PICTURES; i++) {
        const UnetImageInfo info = {.width = 20 - i, .height = 11 + i % 3, .channels = 3, .bits = 8};
        float row[3 * 20];
        char path[100];
        UnetImageWriter *writer;
        UnetError error;
        snprintf(path, sizeof path, "%s/clean/q%02d.jpg", folder, i);
        CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
        for (int32_t y = 0; y < info.height; y++) {
            for (int32_t x = 0; x < 3 * info.width; x++) {
                row[x] = (float)fake_number(i, 0, y, x) / 255.0f;
            }
            CHECK_OK(unet_image_write_row(writer, row, &error), error);
        }
        CHECK_OK(unet_image_finish(writer, &error), error);
    }
}

static void test_all_allocations(void) {
    void *symbol = dlsym(RTLD_DEFAULT, "allocations_of_threads");
    long (*count)(void);
    memcpy(&count, &symbol, sizeof count);
    if (symbol == NULL) {
        return;
    }
    test_allocations(count);
    test_decoders(count, "clean/*.png");
#ifdef UNET_HAS_JPEG
    make_jpegs();
    test_decoders(count, "clean/*.jpg");
#endif
    puts("allocations were counted");
}

int main(void) {
    make_folder(folder);
    for (int i = 0; i < PICTURES; i++) {
        char name[20];
        snprintf(name, sizeof name, "p%02d", i);
        fake_picture(folder, "clean", name, i * 11, 3, 11 + i % 3, 20 - i);
    }
    test_threads(false);
    test_threads(true);
    test_share();
    test_slots();
    test_order();
    test_switching();
    test_failure();
    test_shutdown();
    test_refusals();
    test_all_allocations();
    remove_folder(folder);
    return check_result();
}
