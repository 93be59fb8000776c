/* words.c - see words.h. */
#include "front/words.h"
#include "front/lower_state.h"
#include "ir/ops.h"

void print_words(Text *out) {
    for (const char *const *word = reserved_words(); *word != NULL; word++)
        text_line(out, "keyword\t%s", *word);
    list_types(out);
    for (Op op = 0; op < OPS; op++)
        if (op_table[op].signature != NULL)
            text_line(out, "operator\t%s", op_table[op].signature);
    list_functions(out);
    list_settings(out);
    list_sources(out);
    list_updates(out);
}
