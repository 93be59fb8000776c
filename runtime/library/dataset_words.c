/* dataset_words.c - tokens: numbers of words, and sources that are made of them.
 *
 * hide() fills a target with some of the words of a sample, and takes these out of the input that the
 * network reads: most become the word `mask`, some another word, and some stay, as in J. Devlin and others,
 * "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding" (2019), 3.1.  next()
 * fills a target with the word behind each point.  A point of the target that tells no word is -1.
 *
 * Requires: the words of the sample lie in their input.  Provides: the target, and the input as the network
 * sees it.
 */
#include "dataset_reading.h"
#include "unet/layout.h"
#include "unet/rng.h"

#include <math.h>

enum { NO_WORD = -1 };

bool dataset_is_words(const UnetDataset *dataset, int32_t index) {
    const UnetSourceOp op = dataset->source[index].term[0].op;
    return op == UNET_SRC_HIDE || op == UNET_SRC_NEXT;
}

/* The source that reads the words of source INDEX; -1: there is none. */
static int32_t words_of(const UnetDataset *dataset, int32_t index) {
    const int32_t earlier = dataset_source(dataset, index, dataset->source[index].term[0].pattern);
    return earlier >= 0 && dataset->source[earlier].words > 0 ? earlier : -1;
}

static bool is_filled(const UnetDataset *dataset, int32_t input) {
    return input >= 0 && dataset->program->inputs[input].sample_bytes > 0;
}

UnetStatus dataset_check_made_of_words(const UnetDataset *dataset, int32_t index, UnetError *error) {
    const UnetSource *source = &dataset->source[index];
    const int32_t words = words_of(dataset, index);
    if (source->nterm != 1 || source->channels != 1 || words < 0 ||
        (is_filled(dataset, source->input) && !is_filled(dataset, dataset->source[words].input))) {
        return unet_fail(error, UNET_BUG, "the data source \"%.100s\" is malformed", source->name);
    }
    return UNET_OK;
}

UnetStatus dataset_check_words(const UnetDataset *dataset, const Sample *sample, int32_t series,
                               const float *row, int32_t count, UnetError *error) {
    char path[UNET_PATH_BYTES];
    const FileSeries *files = &dataset->series[series];
    const int32_t words = dataset->source[files->source].words;
    for (int32_t x = 0; x < count; x++) {
        if (row[x] >= 0 && row[x] < (float)words && row[x] == floorf(row[x])) {
            continue;
        }
        const UnetStatus status = dataset_path(dataset, files, sample, path, error);
        return status != UNET_OK
                   ? status
                   : unet_fail(error, UNET_IO,
                               "%.700s has the number %g, and \"%.100s\" has whole numbers "
                               "from 0 to %d, the words of its vocabulary",
                               path, (double)row[x], dataset->source[files->source].name, (int)words - 1);
    }
    return UNET_OK;
}

/* ---- a sample --------------------------------------------------------------------------------- */

/* A row of words, and of the target, which the working memory of their sources holds. */
typedef struct {
    float *word, *told;
    int32_t count;
} Row;

/* Returns the word that the network sees in place of WORD at point X, which it is to tell. */
static float seen(const UnetSource *source, const UnetHidden *hidden, const UnetKey *key, int32_t x,
                  float word) {
    enum { CHOICE = 1, WORD, NUMBERS };
    const double choice = unet_random_uniform(key, (uint64_t)x * NUMBERS + CHOICE);
    const double other = unet_random_uniform(key, (uint64_t)x * NUMBERS + WORD);
    if (choice < hidden->kept) {
        return word;
    }
    return choice < hidden->kept + hidden->random
               ? (float)(hidden->first + floor(other * (source->words - hidden->first)))
               : (float)hidden->mask;
}

static void hide(const Row *row, const UnetSource *words, const UnetHidden *hidden, const UnetKey *key) {
    enum { NUMBERS = 3 };
    for (int32_t x = 0; x < row->count; x++) {
        const bool told = row->word[x] >= (float)hidden->first &&
                          unet_random_uniform(key, (uint64_t)x * NUMBERS) < hidden->share;
        row->told[x] = told ? row->word[x] : NO_WORD;
        row->word[x] = told ? seen(words, hidden, key, x, row->word[x]) : row->word[x];
    }
}

/* The word behind the last one is unknown. */
static void tell_next(const Row *row) {
    for (int32_t x = 0; x < row->count; x++) {
        row->told[x] = x + 1 < row->count ? row->word[x + 1] : NO_WORD;
    }
}

/* Points beside the file have no words to tell. */
static void leave_padding(const Reading *at, const Row *row) {
    for (int32_t x = 0; x < row->count; x++) {
        if (reading_is_beside(at, 0, x)) {
            row->told[x] = NO_WORD;
        }
    }
}

static void store(const Reading *at, int32_t source, const float *row, int32_t count) {
    const int32_t input = at->dataset->source[source].input;
    int32_t *same = at->scratch.map[1]; /* nobody needs it any more */
    for (int32_t x = 0; x < count; x++) {
        same[x] = x;
    }
    unet_layout_store_row(&at->dataset->program->inputs[input], at->inputs[input], at->n, 0, 0, row, count,
                          same, NULL);
}

static void tell_words(const Reading *at, int32_t index, int32_t words) {
    const UnetDataset *dataset = at->dataset;
    const UnetSourceTerm *term = &dataset->source[index].term[0];
    const int32_t input = dataset->source[words].input;
    const UnetLayout *layout = &dataset->program->inputs[input];
    const Row row = {at->scratch.value + (size_t)words * at->scratch.operand_row,
                     at->scratch.value + (size_t)index * at->scratch.operand_row, layout->size[2]};
    UnetKey key = at->key;
    key.stream = UNET_STREAM_SOURCE + (uint32_t)(index * MAX_TERMS);
    unet_layout_load_row(layout, at->inputs[input], at->n, 0, 0, row.word);
    if (term->op == UNET_SRC_HIDE) {
        hide(&row, &dataset->source[words], term->hidden, &key);
    } else {
        tell_next(&row);
    }
    leave_padding(at, &row);
    store(at, words, row.word, row.count);
    store(at, index, row.told, row.count);
}

/* Fills the targets of all sources OP. */
static void store_told(const Reading *at, UnetSourceOp op) {
    for (int32_t s = 0; s < at->dataset->nsource; s++) {
        const int32_t input = at->dataset->source[s].input;
        if (at->dataset->source[s].term[0].op == op && is_filled(at->dataset, input) &&
            at->inputs[input] != NULL) {
            tell_words(at, s, words_of(at->dataset, s));
        }
    }
}

/* The word behind each is told as it stands in the file. */
void words_store(const Reading *at) {
    store_told(at, UNET_SRC_NEXT);
    store_told(at, UNET_SRC_HIDE);
}
