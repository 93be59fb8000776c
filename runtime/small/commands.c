/* commands.c - in place of the driver's: the commands of a program that predicts alone, in one process and
 * by one thread. */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>

/* The others are known, so that they can be refused, and not listed. */
const UnetCommandRow unet_commands[UNET_COMMANDS] = {
    [UNET_COMMAND_TRAIN] = {"train", false, "", NULL, NULL},
    [UNET_COMMAND_EVAL] = {"eval", false, "", NULL, NULL},
    [UNET_COMMAND_PREDICT] =
        {"predict", false, "[OPTIONS] IN... -o OUT", "run the model on images",
         "Reads Netpbm, BMP and NumPy's arrays; writes Netpbm or NumPy's arrays, as the name of OUT ends, "
         "and "
         "Netpbm to a folder.  A file that is there is replaced.  Images may be of any size: those larger "
         "than the size in `info` go by windows of that size."},
    [UNET_COMMAND_CHECK_DATA] = {"check-data", false, "", NULL, NULL},
    [UNET_COMMAND_INFO] = {"info", false, "[OPTIONS]", "print what this program holds", NULL},
    [UNET_COMMAND_BENCH] = {"bench", false, "[OPTIONS]",
                            "time a step of each program and its parts on random inputs", NULL},
    [UNET_COMMAND_TUNE] = {"tune", false, "", NULL, NULL},
    [UNET_COMMAND_COMPLETION] = {"completion", false, "", NULL, NULL},
    [UNET_COMMAND_HELP] = {"help", true, "[COMMAND]", NULL, NULL},
    [UNET_COMMAND_VERSION] = {"version", true, "", NULL, NULL},
};

UnetStatus driver_run(Driver *driver) {
    switch ((int)driver->options.command) {
    case UNET_COMMAND_PREDICT:
        return driver_predict(driver);
    case UNET_COMMAND_INFO:
        return driver_info(driver);
    case UNET_COMMAND_BENCH:
        return driver_bench(driver);
    }
    return unet_fail(&driver->error, UNET_USAGE,
                     "this program has no `%s`, for it was compiled with --no-images: compile it without",
                     unet_commands[driver->options.command].name);
}

UnetStatus driver_join(Driver *driver) {
    driver->ranks.size = 1;
    return UNET_OK;
}

UnetStatus driver_connect_devices(Driver *driver, Device *device) {
    (void)driver, (void)device;
    return UNET_OK;
}

void driver_leave(Driver *driver, int code) {
    (void)driver, (void)code;
}

void driver_note_limit(int64_t asked, int64_t max) {
    (void)asked;
    (void)fprintf(
        stderr,
        "note: limited to %" PRId64 " thread: programs that are compiled with --no-images have one\n", max);
}
