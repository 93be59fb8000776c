/* instructions_test.c - the processor has just the instructions that the compiler's own library says, and a
 * program takes the variant that is not slow on it. */
#include "check.h"
#include "unet/model.h"

static void test_best_model(void) {
    const bool slow = unet_pairs_are_slow();
    const UnetModel lacks = {.instructions = INT64_C(1) << 5 | INT64_C(1)
                                                                   << 12}; /* no processor has both */
    const UnetModel yields = {.yields = true}, other = {0};
    const UnetModel *const models[] = {&lacks, &yields, &other};
    for (int i = 0; i < 20; i++)
        CHECK(unet_best_model(models, 3) == (slow ? &other : &yields), "call %d", i);
    CHECK(unet_best_model(models, 1) == NULL, "none runs");
    CHECK(slow || unet_lacking_instruction(INT64_C(1) << UNET_PAIRS_BIT) == NULL, "quick, and not there");
}

int main(void) {
#if defined __x86_64__ || defined __i386__
#define COMPARE(bit, macro, name)                                                                          \
    CHECK((unet_lacking_instruction(INT64_C(1) << (bit)) == NULL) == (__builtin_cpu_supports(name) != 0),  \
          "%s", name);
    UNET_INSTRUCTIONS(COMPARE)
#endif
    CHECK(unet_lacking_instruction(0) == NULL, "nothing is lacking");
    CHECK(unet_lacking_instruction(UNET_INSTRUCTIONS_USED) == NULL, "this test runs");
    test_best_model();
    return check_result();
}
