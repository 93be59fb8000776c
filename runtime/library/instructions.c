/* instructions.c - what this processor lacks of the instructions that a model was compiled for. */
#include "unet/model.h"

const char *unet_lacking_instruction(int64_t instructions) {
#if defined __x86_64__ || defined __i386__
#define RETURN_IF_LACKING(bit, macro, name)                                                                \
    if ((instructions >> (bit)&1) != 0 && !__builtin_cpu_supports(name))                                   \
        return name;
    UNET_INSTRUCTIONS(RETURN_IF_LACKING)
#else
    (void)instructions;
#endif
    return NULL;
}
