/* other_machine.c - programs for another kind of processor than that on which unetc runs.
 *
 * A cross compiler names its machine: "aarch64-linux-gnu".  In the folder of the runtime library lies one
 * of that name with the library of small programs, which runtime/package/other_machine.sh has built.
 */
#include "emit/other_machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The machine that COMPILER compiles for; NULL: the compiler does not say. */
static const char *machine_of(Pool *pool, const char *compiler, const char *scratch) {
    Words command = {.pool = pool};
    add_words(&command, compiler);
    add_word(&command, "-dumpmachine");
    const char *said = command_output(&command, scratch);
    return said == NULL ? NULL : pool_copy(pool, said, strcspn(said, "\n"));
}

/* Compilers write the rest of a name in several ways: x86_64-linux-gnu, x86_64-pc-linux-gnu. */
static bool same_processor(const char *machine) {
    const size_t length = strcspn(machine, "-");
    return strlen(UNETC_PROCESSOR) == length && strncmp(machine, UNETC_PROCESSOR, length) == 0;
}

/* The reason why no program of these options is built for another machine, or NULL. */
static const char *missing_option(const Options *options) {
    if (!options->no_images)
        return "programs for it link the C library alone: add --no-images";
    if (options->instructions == NULL)
        return "name the instructions of its processor, as in --isa=armv8-a";
    return NULL;
}

const char *home_for_compiler(const Plan *plan, const char *compiler, const char *home,
                              const char *scratch) {
    const char *machine = machine_of(plan->pool, compiler, scratch);
    if (machine == NULL || same_processor(machine))
        return home; /* a compiler that does not run says so when it compiles */
    const char *there = pool_text(plan->pool, "%s/%s", home, machine),
               *missing = missing_option(plan->options);
    if (missing != NULL) {
        fprintf(stderr, "unetc: %s compiles for %s, and %s\n", compiler, machine, missing);
        return NULL;
    }
    if (access(pool_text(plan->pool, "%s/libunet_small.a", there), R_OK) != 0) {
        fprintf(
            stderr,
            "unetc: %s compiles for %s, and there is no runtime library for it in %s: build it once, in "
            "the sources of unetc, by `sh runtime/package/other_machine.sh %s %s`\n",
            compiler, machine, there, compiler, home);
        return NULL;
    }
    return there;
}
