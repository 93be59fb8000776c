/* plans.c - the plans of `unetc --plans`: one model in several amounts of memory.  A command takes one of
 * the plans; all compute the same.
 *
 * Requires: models in the order of their plans, the largest first, and in each plan by instructions.
 * Provides: the model that fits the memory which is free when the program starts, of the machine or of its
 * GPU.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

int plans_of(const Driver *driver, const UnetModel **model, int most) {
    int count = 0;
    for (int i = 0; i < driver->nmodels; i++) {
        const UnetModel *other = driver->models[i];
        if (strcmp(other->isa, driver->model->isa) != 0)
            continue;
        if (count < most)
            model[count] = other;
        count++;
    }
    return count;
}

/* Bytes that COMMAND takes: its part of the arena, and, on the host, the ring of the loader. */
static int64_t need(const UnetModel *model, UnetCommand command) {
    const UnetProgram *program = command == UNET_COMMAND_EVAL ? model->eval : model->predict;
    const bool whole = command == UNET_COMMAND_TRAIN || command == UNET_COMMAND_BENCH || program == NULL;
    return (whole ? model->arena_bytes : program->extent) +
           (model->device == NULL ? model->loader_ring_bytes : 0);
}

static void tell(const Driver *driver, int64_t available, int64_t bytes, int place, int count) {
    char have[32], takes[32];
    if (driver->ranks.alike && driver->ranks.rank > 0)
        return;
    format_bytes(have, sizeof have, available);
    format_bytes(takes, sizeof takes, bytes);
    (void)fprintf(stderr, "note: --fit: %s are free; plan %d of %d is taken, which needs %s\n", have,
                  place + 1, count, takes);
}

void plans_fit(Driver *driver) {
    const UnetModel *plan[UNET_MOST_PLANS];
    const int count = plans_of(driver, plan, UNET_MOST_PLANS);
    const UnetDevice *device = driver->model->device;
    int place = 0;
    if (!driver->options.fit)
        return;
    if (count < 2) {
        (void)fprintf(stderr,
                      "note: --fit: this program holds one plan; `unetc --plans=SIZE,SIZE` makes one "
                      "that holds several\n");
        return;
    }
    const int64_t available = device == NULL ? machine_free_memory() : device->free_memory();
    while (place < count - 1 && need(plan[place], driver->options.command) > available)
        place++;
    driver->model = plan[place];
    tell(driver, available, need(driver->model, driver->options.command), place, count);
}
