/* connect.c - how the gradients of several processes go from one GPU to another: by NCCL, or through
 * the memory of the host.
 *
 * Every process tells all others of its GPU and its NCCL; so all of them come to the same decision.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum { REASON_BYTES = 256 };

static void name_version(char text[32], int32_t version) {
    (void)snprintf(text, 32, "%d.%d.%d", (int)version / 10000, (int)version / 100 % 100,
                   (int)version % 100);
}

/* Why the devices of PEER[0..SIZE) cannot be connected, and what to do; "" where they can. */
static void find_obstacle(const UnetPeer *peer, int32_t size, char why[REASON_BYTES]) {
    char mine[32], first[32];
    why[0] = '\0';
    if (peer[0].version == 0)
        (void)snprintf(why, REASON_BYTES,
                       "the program was linked without NCCL; install it, build unetc anew and compile the "
                       "program again");
    for (int32_t r = 1; r < size && why[0] == '\0'; r++) {
        name_version(mine, peer[r].version);
        name_version(first, peer[0].version);
        if (peer[r].version != peer[0].version)
            (void)snprintf(why, REASON_BYTES,
                           "rank %d has NCCL %s, and rank 0 has %s; install the same on all machines",
                           (int)r, mine, first);
        for (int32_t q = 0; q < r && why[0] == '\0'; q++)
            if (strncmp(peer[r].device, peer[q].device, sizeof peer[r].device) == 0)
                (void)snprintf(why, REASON_BYTES,
                               "ranks %d and %d have the same GPU, and NCCL needs one for each; start as "
                               "many processes as there are GPUs",
                               (int)q, (int)r);
    }
}

/* The connection of a run by one process, or without a device. */
static UnetStatus connect_nothing(Driver *driver) {
    const UnetOptions *options = &driver->options;
    const char *option = strcmp(options->exchange, "auto") != 0 ? "--exchange"
                         : strcmp(options->reduce, "tree") != 0 ? "--reduce=fast"
                                                                : NULL;
    if (option == NULL || driver->model->device != NULL)
        return UNET_OK;
    driver->ranks.alike = true;
    return unet_fail(&driver->error, UNET_USAGE,
                     "%s is for programs for a GPU, whose gradients NCCL may add; leave it out, or compile "
                     "with --target=cuda",
                     option);
}

static UnetStatus refuse(Driver *driver, const char *option, const char *why) {
    driver->ranks.alike = true;
    return unet_fail(&driver->error, UNET_USAGE, "%s: %s, or leave %s out", option, why, option);
}

/* NCCL where it is asked for, or may be taken and nothing is in the way. */
static UnetStatus choose(Driver *driver, const UnetPeer *peer, bool *connects) {
    const UnetOptions *options = &driver->options;
    const bool leads = driver->ranks.rank == 0;
    const bool host = strcmp(options->exchange, "host") == 0, fast = strcmp(options->reduce, "fast") == 0;
    char why[REASON_BYTES], version[32];
    find_obstacle(peer, driver->ranks.size, why);
    *connects = !host && why[0] == '\0';
    if (host && fast)
        return refuse(driver, "--reduce=fast",
                      "NCCL adds, and --exchange=host does without it; choose one");
    if (!*connects && fast)
        return refuse(driver, "--reduce=fast", why);
    if (!*connects && strcmp(options->exchange, "nccl") == 0)
        return refuse(driver, "--exchange=nccl", why);
    name_version(version, peer[0].version);
    if (leads && *connects)
        (void)fprintf(stderr, "note: gradients go from GPU to GPU by NCCL %s%s\n", version,
                      fast ? ", which adds them in an order of its own" : "");
    else if (leads)
        (void)fprintf(stderr, "note: gradients go through the memory of the host%s%s\n",
                      why[0] != '\0' ? ": " : "", why);
    return UNET_OK;
}

UnetStatus driver_connect_devices(Driver *driver, Device *there) {
    Ranks *ranks = &driver->ranks;
    const UnetDevice *device = driver->model->device;
    UnetError *error = &driver->error;
    UnetPeer mine;
    const char *all;
    bool connects = false;
    if (device == NULL || ranks_alone(ranks))
        return connect_nothing(driver);
    UnetStatus status = device->introduce(there->state, ranks->rank == 0, &mine, error);
    if (status == UNET_OK)
        status = ranks_reserve(ranks, sizeof mine, error);
    if (status == UNET_OK)
        status = ranks_say(ranks, &mine, sizeof mine, &all, error);
    if (status == UNET_OK)
        status = choose(driver, (const UnetPeer *)(const void *)all, &connects);
    if (status != UNET_OK || !connects)
        return status;
    UnetConnection connection = {.rank = ranks->rank,
                                 .size = ranks->size,
                                 .fast = strcmp(driver->options.reduce, "fast") == 0,
                                 .overlaps = strcmp(driver->options.overlap, "yes") == 0,
                                 .timeout = ranks->timeout};
    memcpy(&connection.first, all, sizeof connection.first);
    return device->connect(there->state, &connection, error);
}
