/* commands.c - the commands of a program, how its processes meet, and how many threads it has. */
#include "driver.h"
#include "unet/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const UnetCommandRow unet_commands[UNET_COMMANDS] = {
    [UNET_COMMAND_TRAIN] =
        {"train", false, "[OPTIONS]", "train the model and write its weights",
         "Writes NAME.safetensors, NAME.best.safetensors, checkpoints, log.csv and report.html.  Ctrl-C "
         "writes "
         "a "
         "checkpoint and stops.  --resume goes on from the last checkpoint, also after a run was killed."},
    [UNET_COMMAND_EVAL] =
        {"eval", false, "[OPTIONS]", "measure the weights on the evaluation data",
         "The evaluation data are what `holdout` keeps from training or the section `eval` names; without "
         "both, all of --data.  Of a folder other than the one trained on, all samples are measured."},
    [UNET_COMMAND_PREDICT] =
        {"predict", false, "[OPTIONS] IN... -o OUT", "run the model on images or volumes",
         "Reads images of all formats that training reads; writes PNG, JPEG, TIFF, Netpbm or NumPy's "
         "arrays, as the name of OUT ends, and PNG to a folder.  A file that is there is replaced.  "
         "Volumes are NIfTI, .nii or .nii.gz, in and out.  Images "
         "may be of any size: those larger than the size in `info` go by windows of that size."},
    [UNET_COMMAND_SAMPLE] =
        {"sample", false, "[OPTIONS] -o OUT",
         "make pictures out of noise, by a network that `diffuse` trained",
         "Writes one picture with all samples side by side.  `--eta=1 --steps=1000` is DDPM's way, the "
         "default is DDIM's in 50 steps.  The seed and the number of a sample determine it."},
    [UNET_COMMAND_CHECK_DATA] = {"check-data", false, "[OPTIONS]",
                                 "read the data once and report what is wrong with it",
                                 "Also counts the points of each class.  Lists all problems, of each kind "
                                 "three and their count; if "
                                 "there are any, the exit code is 4."},
    [UNET_COMMAND_INFO] = {"info", false, "[OPTIONS]",
                           "print what this program holds: parameters, programs, memory", NULL},
    [UNET_COMMAND_BENCH] = {"bench", false, "[OPTIONS]",
                            "time a step of each program and its parts on random inputs", NULL},
    [UNET_COMMAND_TUNE] =
        {"tune", false, "[OPTIONS]", "time which engines of cuDNN compute fastest, for programs on a GPU",
         "Writes NAME.engines.json, which all commands use from then on.  Results with it are the same in "
         "every run; they may differ in the last bits from results without it.  `unetc --engines=FILE` "
         "plans "
         "with it."},
    [UNET_COMMAND_COMPLETION] = {"completion", false, "bash|zsh|fish",
                                 "print a script by which a shell completes options", NULL},
    [UNET_COMMAND_HELP] = {"help", true, "[COMMAND]", NULL, NULL},
    [UNET_COMMAND_VERSION] = {"version", true, "", NULL, NULL},
};

static UnetStatus print_completion(Driver *driver) {
    char text[65536];
    const char *shell = driver->options.files[0];
    const size_t length = unet_options_completion(text, sizeof text, driver->program, shell);
    if (length == 0)
        return unet_fail(&driver->error, UNET_USAGE,
                         "there is no completion for `%s`: choose bash, zsh or fish", shell);
    (void)fwrite(text, 1, length, stdout);
    return UNET_OK;
}

UnetStatus driver_run(Driver *driver) {
    switch (driver->options.command) {
    case UNET_COMMAND_TRAIN:
        return driver_train(driver);
    case UNET_COMMAND_EVAL:
        return driver_eval(driver);
    case UNET_COMMAND_PREDICT:
        return driver_predict(driver);
    case UNET_COMMAND_SAMPLE:
        return driver_sample(driver);
    case UNET_COMMAND_CHECK_DATA:
        return driver_check_data(driver);
    case UNET_COMMAND_INFO:
        return driver_info(driver);
    case UNET_COMMAND_BENCH:
        return driver_bench(driver);
    case UNET_COMMAND_TUNE:
        return driver_tune(driver);
    case UNET_COMMAND_COMPLETION:
        return print_completion(driver);
    case UNET_COMMAND_HELP:
    case UNET_COMMAND_VERSION:
    case UNET_COMMANDS:
        break;
    }
    return unet_fail(&driver->error, UNET_BUG, "command %d has no code", (int)driver->options.command);
}

UnetStatus driver_join(Driver *driver) {
    Launch launch;
    char note[256];
    if (driver->options.command == UNET_COMMAND_TRAIN || driver->options.command == UNET_COMMAND_BENCH) {
        const UnetMeeting meeting = {.timeout = (double)driver->options.timeout,
                                     .trusts_network = driver->options.trust_network};
        const UnetStatus status = ranks_join(&driver->ranks, driver->model, &meeting, &driver->error);
        if (*driver->ranks.note != '\0')
            (void)fprintf(stderr, "warning: %s\n", driver->ranks.note);
        return status == UNET_OK && strcmp(driver->options.overlap, "yes") == 0
                   ? ranks_overlap(&driver->ranks, &driver->error)
                   : status;
    }
    driver->ranks.size = 1;
    const UnetStatus status = ranks_find_launch(&launch, note, sizeof note, &driver->error);
    if (status == UNET_OK && launch.size > 1)
        return unet_fail(&driver->error, UNET_USAGE,
                         "%s started %" PRId64
                         " processes, and only `train` and `bench` work with more than one",
                         launch.by, launch.size);
    return status;
}

void driver_leave(Driver *driver, int code) {
    ranks_leave(&driver->ranks, code);
}

void driver_note_limit(int64_t asked, int64_t max) {
    int64_t most = asked < UNET_MOST_THREADS ? asked : UNET_MOST_THREADS;
    if (most > max)
        (void)fprintf(stderr,
                      "note: limited to %" PRId64
                      " thread%s; for more, compile with `unetc --max-threads=%" PRId64 "`\n",
                      max, unet_plural(max), most);
    else
        (void)fprintf(stderr, "note: limited to %" PRId64 " threads, the most there can be\n", max);
}
