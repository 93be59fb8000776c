/* targets.c - the list of targets. */
#include "ir/target.h"

const Target *const targets[] = {&target_cpu, &target_cuda, NULL};
