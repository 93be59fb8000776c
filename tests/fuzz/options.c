/* options.c - fuzzes command lines, a word a line: of unetc, or, if the first byte is odd, of a generated
 * program. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"

enum { MOST_WORDS = 32 };

typedef struct {
    Pool *pool;
    bool of_program;
    int count;
    char *word[MOST_WORDS + 1];
} Case;

static void read_words(void *context) {
    Case *c = context;
    UnetOptions options;
    UnetError error = {.text = ""};
    if (!c->of_program) {
        (void)command_read(c->pool, c->count, c->word);
        return;
    }
    if (unet_options_parse(&options, c->count, c->word, &error) != UNET_OK && error.text[0] == '\0')
        abort(); /* a refusal says why */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = as_text(data, size), *rest = NULL;
    Case c = {.pool = pool_new(), .of_program = size > 0 && data[0] % 2 == 1, .count = 1};
    static char program[] = "program";
    c.word[0] = program;
    for (char *word = size == 0 ? NULL : strtok_r(text + 1, "\n", &rest);
         word != NULL && c.count < MOST_WORDS; word = strtok_r(NULL, "\n", &rest))
        c.word[c.count++] = word;
    run_caught(read_words, &c);
    pool_free(c.pool);
    free(text);
    return 0;
}
