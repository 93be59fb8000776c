/* instructions_test.c - the processor has just the instructions that the compiler's own library says. */
#include "check.h"
#include "unet/model.h"

int main(void) {
#if defined __x86_64__ || defined __i386__
#define COMPARE(bit, macro, name)                                                                          \
    CHECK((unet_lacking_instruction(INT64_C(1) << (bit)) == NULL) == (__builtin_cpu_supports(name) != 0),  \
          "%s", name);
    UNET_INSTRUCTIONS(COMPARE)
#endif
    CHECK(unet_lacking_instruction(0) == NULL, "nothing is lacking");
    CHECK(unet_lacking_instruction(UNET_INSTRUCTIONS_USED) == NULL, "this test runs");
    return check_result();
}
