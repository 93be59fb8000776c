/* null_target.h - a target for tests: it emits the steps of a plan as text. */
#ifndef NULL_TARGET_H
#define NULL_TARGET_H

#include "ir/target.h"

extern const Target target_null;

#endif
