/* targets.c - the list of targets, from targets.def. */
#include "ir/target.h"

#define TARGET(name) extern const Target target_##name;
#include "targets.def"
#undef TARGET

const Target *const targets[] = {
#define TARGET(name) &target_##name,
#include "targets.def"
#undef TARGET
    NULL};
