/* standalone.c - a fuzz target without libFuzzer, for any compiler:
 *
 *     fuzz_TARGET CASES FILE...
 *
 * gives it each FILE as it is, then CASES changes of each.  The same arguments give the same inputs.  An
 * input that ends it badly is left in fuzz_TARGET.input, and the messages in fuzz_TARGET.log. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 16, MOST_CHANGES = 4 };

typedef struct {
    uint8_t bytes[ROOM];
    size_t length;
} Input;

static uint64_t state = 2026;

static size_t below(size_t limit) { /* splitmix64 */
    uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return limit == 0 ? 0 : (size_t)((z ^ z >> 31) % limit);
}

static void read_input(const char *path, Input *input) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(4);
    }
    input->length = fread(input->bytes, 1, ROOM / 2, file);
    fclose(file);
}

/* LENGTH bytes of FROM in place of DROP bytes at AT. */
static void replace(Input *input, size_t at, size_t drop, const uint8_t *from, size_t length) {
    uint8_t copy[256];
    length = length < sizeof copy ? length : sizeof copy;
    if (input->length - drop + length > ROOM)
        return;
    memcpy(copy, from, length);
    memmove(input->bytes + at + length, input->bytes + at + drop, input->length - at - drop);
    memcpy(input->bytes + at, copy, length);
    input->length += length - drop;
}

static void change(Input *input) {
    static const char digits[] = "0123456789";
    const size_t at = below(input->length), left = input->length - at, from = below(input->length);
    uint8_t *here = input->bytes + at;
    if (input->length == 0)
        return;
    switch (below(6)) {
    case 0:
        *here ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        *here = (uint8_t)below(256);
        break;
    case 2:
        *here = (uint8_t)digits[below(10)];
        break;
    case 3: /* leaves out a part */
        replace(input, at, 1 + below(left < 64 ? left : 64), here, 0);
        break;
    case 4: /* repeats one */
        replace(input, at, 0, input->bytes + from, 1 + below(input->length - from));
        break;
    default: /* writes one over another */
        replace(input, at, below(left < 16 ? left : 16), input->bytes + from,
                1 + below(input->length - from < 16 ? input->length - from : 16));
        break;
    }
}

static FILE *open_or_fail(const char *program, const char *suffix) {
    const char *slash = strrchr(program, '/');
    char name[256];
    snprintf(name, sizeof name, "%s%s", slash == NULL ? program : slash + 1, suffix);
    FILE *file = fopen(name, "wb");
    if (file == NULL) {
        perror(name);
        exit(4);
    }
    return file;
}

static void run(FILE *kept, const Input *input) {
    if (ftruncate(fileno(kept), 0) != 0 || ftruncate(2, 0) != 0 || lseek(2, 0, SEEK_SET) != 0 ||
        pwrite(fileno(kept), input->bytes, input->length, 0) != (ssize_t)input->length)
        abort();
    /* what reads beyond the input is to be found out */
    uint8_t *bytes = malloc(input->length);
    memcpy(bytes, input->bytes, input->length);
    LLVMFuzzerTestOneInput(bytes, input->length);
    free(bytes);
}

int main(int argc, char **argv) {
    static Input original, changed;
    if (argc < 3)
        return 2;
    const long cases = strtol(argv[1], NULL, 10);
    FILE *kept = open_or_fail(argv[0], ".input"), *log = open_or_fail(argv[0], ".log");
    if (freopen("/dev/null", "w", stdout) == NULL || dup2(fileno(log), 2) < 0)
        return 4;
    for (int i = 2; i < argc; i++) {
        read_input(argv[i], &original);
        run(kept, &original);
        for (long k = 0; k < cases; k++) {
            changed = original;
            for (size_t changes = 1 + below(MOST_CHANGES); changes > 0; changes--)
                change(&changed);
            run(kept, &changed);
        }
    }
    fclose(log);
    fclose(kept);
    return 0;
}
