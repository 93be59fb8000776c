/* words_test.c - words that are hidden: which, how many, and what stands in their place; the word behind
 * each word; numbers that are no words. */
#include "check.h"
#include "fake_data.h"

#include <math.h>
#include <unistd.h>

enum { WIDTH = 61, EPOCHS = 400, FIRST = 20, MASK = 7, WORDS = 256 };

static char folder[64];

/* The words of a sample as a network sees them, and the words that it is to tell. */
typedef struct {
    float seen[WIDTH], told[WIDTH];
    UnetStatus status;
    UnetError error;
} Text;

static const UnetHidden hidden = {.share = 0.3, .random = 0.2, .kept = 0.1, .mask = MASK, .first = FIRST};

/* `noisy` has the words of a picture of one row. */
static Fake fake_words(UnetSourceOp op) {
    Fake fake;
    fake_pairs(&fake, 2, 1, 1, UNET_F32);
    fake_program(&fake.train, "train", fake.train_layout, 2, 1, 1, WIDTH, UNET_F32);
    fake_program(&fake.eval, "eval", fake.eval_layout, 1, 1, 1, WIDTH, UNET_F32);
    fake.term[0][0] = (UnetSourceTerm){.op = UNET_SRC_FILES, .pattern = "noisy/*.png", .way.words = true};
    fake.term[1][0] = (UnetSourceTerm){.op = op, .pattern = "noisy", .hidden = &hidden};
    fake.source[0] = (UnetSource){"noisy", 0, 1, 1, fake.term[0], NULL, false, false, false, WORDS};
    fake.source[1] = (UnetSource){"clean", 1, 1, 1, fake.term[1], NULL, false, false, false, 0};
    return fake;
}

/* A model has pointers to itself. */
static void settle(Fake *fake) {
    fake->source[0].term = fake->term[0];
    fake->source[1].term = fake->term[1];
    fake->data.source = fake->source;
    fake->data.transform = fake->transform;
    fake->train.inputs = fake->train_layout;
    fake->eval.inputs = fake->eval_layout;
    fake->model.inputs = fake->inputs;
    fake->model.train = &fake->train;
    fake->model.eval = &fake->eval;
    fake->model.data = &fake->data;
}

static void load(const UnetLayout *layout, const void *input, float *row) {
    const float *from = (const float *)input + layout->origin + layout->sample;
    for (int x = 0; x < WIDTH; x++) {
        row[x] = from[x];
    }
}

static Text read_text(const UnetDataset *dataset, uint64_t seed, uint32_t epoch) {
    Text text = {.status = UNET_OK};
    const UnetProgram *program = unet_dataset_program(dataset);
    void *inputs[FAKE_INPUTS];
    int32_t valid[3];
    for (int i = 0; i < FAKE_INPUTS; i++) {
        inputs[i] = calloc(2, (size_t)program->inputs[i].sample_bytes);
    }
    void *scratch = aligned_alloc(64, unet_dataset_scratch_bytes(dataset));
    text.status =
        unet_dataset_read(dataset, 0, seed, epoch, scratch, NULL, inputs, 1, 2, valid, &text.error);
    load(&program->inputs[0], inputs[0], text.seen);
    load(&program->inputs[1], inputs[1], text.told);
    free(scratch);
    for (int i = 0; i < FAKE_INPUTS; i++) {
        free(inputs[i]);
    }
    return text;
}

static UnetDataset *open_words(Fake *fake, UnetPurpose purpose) {
    UnetDataset *dataset;
    UnetError error;
    settle(fake);
    if (unet_dataset_open(&dataset, &fake->model, purpose, unet_in_folder(folder), &error) != UNET_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return dataset;
}

/* The share FOUND of COUNT is WANTED within five deviations. */
static void check_share(const char *what, long found, long count, double wanted) {
    const double share = (double)found / (double)count,
                 deviation = sqrt(wanted * (1 - wanted) / (double)count);
    CHECK(fabs(share - wanted) < 5 * deviation, "%s: %ld of %ld, not %g", what, found, count, wanted);
}

static void test_shares(void) {
    Fake fake = fake_words(UNET_SRC_HIDE);
    UnetDataset *dataset = open_words(&fake, UNET_TRAINING);
    long all = 0, told = 0, masked = 0, kept = 0, other = 0, wrong = 0;
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        const Text text = read_text(dataset, 1, epoch);
        CHECK_OK(text.status, text.error);
        for (int x = 0; x < WIDTH; x++) {
            const float word = (float)fake_number(0, 0, 0, x);
            all += word >= FIRST;
            if (text.told[x] < 0) {
                wrong += text.told[x] != -1 || text.seen[x] != word;
                continue;
            }
            told++;
            masked += text.seen[x] == MASK;
            kept += text.seen[x] == word;
            other += text.seen[x] != word && text.seen[x] != MASK;
            wrong += text.told[x] != word || word < FIRST ||
                     (text.seen[x] != MASK && (text.seen[x] < FIRST || text.seen[x] >= WORDS)) ||
                     text.seen[x] != floorf(text.seen[x]);
        }
    }
    CHECK(wrong == 0, "%ld words are wrong", wrong);
    check_share("hidden", told, all, hidden.share);
    check_share("masked", masked, told, 1 - hidden.random - hidden.kept);
    check_share("kept", kept, told, hidden.kept + hidden.random / (WORDS - FIRST));
    check_share("others", other, told, hidden.random * (1 - 1.0 / (WORDS - FIRST)));
    unet_dataset_close(dataset);
}

/* Seed and epoch decide in training, and neither of them in evaluation. */
static void test_draws(void) {
    Fake fake = fake_words(UNET_SRC_HIDE);
    fake.data.holdout = 0.5;
    for (int purpose = 0; purpose < 2; purpose++) {
        UnetDataset *dataset = open_words(&fake, purpose == 0 ? UNET_TRAINING : UNET_EVALUATION);
        const Text text = read_text(dataset, 3, 5), again = read_text(dataset, 3, 5),
                   seed = read_text(dataset, 4, 5), epoch = read_text(dataset, 3, 6);
        const bool same = memcmp(text.told, again.told, sizeof text.told) == 0,
                   by_seed = memcmp(text.told, seed.told, sizeof text.told) == 0,
                   by_epoch = memcmp(text.told, epoch.told, sizeof text.told) == 0;
        CHECK(same && by_seed == (purpose == 1) && by_epoch == (purpose == 1),
              "purpose %d: %d, of another seed %d, of another epoch %d", purpose, same, by_seed, by_epoch);
        unet_dataset_close(dataset);
    }
}

static void test_next(void) {
    Fake fake = fake_words(UNET_SRC_NEXT);
    UnetDataset *dataset = open_words(&fake, UNET_TRAINING);
    const Text text = read_text(dataset, 1, 0);
    CHECK_OK(text.status, text.error);
    for (int x = 0; x < WIDTH; x++) {
        const float wanted = x + 1 < WIDTH ? (float)fake_number(0, 0, 0, x + 1) : -1;
        CHECK(text.told[x] == wanted && text.seen[x] == (float)fake_number(0, 0, 0, x),
              "word %d is %g and tells %g", x, (double)text.seen[x], (double)text.told[x]);
    }
    unet_dataset_close(dataset);
}

/* A text that is shorter than the window has nothing to tell beside its end. */
static void test_padding(void) {
    Fake fake = fake_words(UNET_SRC_NEXT);
    fake_picture(folder, "short", "a", 0, 1, 1, WIDTH / 2);
    fake.term[0][0].pattern = "short/*.png";
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = UNET_PAD_VALUE, .p = 1});
    UnetDataset *dataset = open_words(&fake, UNET_TRAINING);
    const Text text = read_text(dataset, 1, 0);
    CHECK_OK(text.status, text.error);
    int told = 0;
    for (int x = 0; x < WIDTH; x++) {
        told += text.told[x] >= 0;
    }
    CHECK(told >= WIDTH / 2 - 1 && told <= WIDTH / 2, "%d words of %d are told", told, WIDTH / 2);
    unet_dataset_close(dataset);
}

static void test_no_word(void) {
    Fake fake = fake_words(UNET_SRC_HIDE);
    fake.source[0].words = 100;
    UnetDataset *dataset = open_words(&fake, UNET_TRAINING);
    const Text text = read_text(dataset, 1, 0);
    CHECK(text.status == UNET_IO &&
              strstr(text.error.text,
                     "noisy/a.png has the number 102, and \"noisy\" has whole numbers from "
                     "0 to 99, the words of its vocabulary") != NULL,
          "\"%s\"", text.error.text);
    unet_dataset_close(dataset);
}

int main(void) {
    make_folder(folder);
    fake_picture(folder, "noisy", "a", 0, 1, 1, WIDTH);
    fake_picture(folder, "noisy", "b", 0, 1, 1, WIDTH);
    test_shares();
    test_draws();
    test_next();
    test_padding();
    test_no_word();
    remove_folder(folder);
    return check_result();
}
