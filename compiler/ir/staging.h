/* staging.h - in which type the loader leaves an input, and why.
 *
 * Without --staging a picture has the type of its files, if their names and the file promise it; see
 * staging.c.
 */
#ifndef STAGING_H
#define STAGING_H

#include "ir/plan.h"

/* The type in which the loader leaves input number INPUT of PROGRAM's model, which is no map of classes. */
Type staged_type(const Program *program, int input);

/* Why it has that type: "PNG files have at most 16 bits". */
const char *staged_reason(Pool *pool, const Program *program, int input);

/* Has some picture of PLAN the type of its files, because their names promise that nothing is lost? */
bool stages_as_files(const Plan *plan);

/* Bytes of the copies of such pictures that an iteration of PROGRAM makes for its layers. */
int64_t copied_bytes(const Program *program);

/* Samples of PROGRAM in a slot of the ring: of several processes that train together, this one's share. */
int64_t slot_samples(const Program *program);

/* The bytes of all slots of PLAN's ring if --staging=u8 had been given. */
int64_t ring_bytes_of_u8(const Plan *plan);

#endif
