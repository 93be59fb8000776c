/* options.c - the command line of a generated program: its grammar, and the rules that concern several
 * options. */
#include "options.h"

#include "unet/words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static UnetStatus take_resume(void *result, const UnetValue *value, UnetError *error) {
    UnetOptions *options = result;
    (void)error;
    options->resume = true;
    options->resume_file = value->text;
    return UNET_OK;
}

static UnetStatus take_tensorboard(void *result, const UnetValue *value, UnetError *error) {
    UnetOptions *options = result;
    (void)error;
    options->tensorboard = true;
    options->tensorboard_folder = value->text;
    return UNET_OK;
}

static UnetStatus take_report(void *result, const UnetValue *value, UnetError *error) {
    UnetOptions *options = result;
    (void)error;
    options->report = true;
    options->report_file = value->text;
    return UNET_OK;
}

static UnetStatus take_eta(void *result, const UnetValue *value, UnetError *error) {
    UnetOptions *options = result;
    char *end;
    options->eta = strtod(value->text, &end);
    return *end == '\0' && options->eta >= 0 && options->eta <= 1
               ? UNET_OK
               : unet_fail(error, UNET_USAGE, "`--eta=%s`: use a number from 0 to 1", value->text);
}

static UnetStatus take_condition(void *result, const UnetValue *value, UnetError *error) {
    UnetOptions *options = result;
    const char *equals = strchr(value->text, '=');
    if (equals == NULL || equals == value->text)
        return unet_fail(error, UNET_USAGE,
                         "`--condition=%s`: name the input and its values: `--condition=class=3,4`",
                         value->text);
    if (options->nconditions == UNET_MOST_CONDITIONS)
        return unet_fail(error, UNET_USAGE, "there are more than %d options `--condition`",
                         (int)UNET_MOST_CONDITIONS);
    options->condition[options->nconditions++] = value->text;
    return UNET_OK;
}

/* Which options a run that is resumed has no more: they say where it starts. */
enum { GOES_ON, STARTS };

/* " --data=photos", quoted where a shell would take it apart; for what has no room stand dots. */
static void record(void *result, const UnetOptionRow *row, const UnetValue *value) {
    UnetOptions *options = result;
    static const char left_out[] = " ...";
    const size_t length = strlen(options->given), room = sizeof options->given - sizeof left_out;
    if (row->tag == STARTS || length > room)
        return;
    size_t end = length + (size_t)snprintf(options->given + length, room - length, " %s", row->name);
    const bool has_value = value->text != NULL && (*value->text != '\0' || row->kind == UNET_TEXT);
    bool fits = end < room && (!has_value || end + 1 < room);
    if (has_value && fits) {
        options->given[end++] = '=';
        end += unet_shell_word(options->given + end, room - end, value->text);
        fits = end < room;
    }
    if (!fits)
        memcpy(options->given + length, left_out, sizeof left_out);
}

#define IN(command) (1u << UNET_COMMAND_##command)
#define AT(field) offsetof(UnetOptions, field)
static const UnetOptionRow rows[] = {
    {"--data", .kind = UNET_TEXT, .commands = IN(TRAIN) | IN(EVAL) | IN(CHECK_DATA), .place = AT(data),
     .value = "DIR", .help = "folder of the data: the patterns in the file start there (.)"},
    {"--eval-data", .kind = UNET_TEXT, .commands = IN(TRAIN) | IN(EVAL), .place = AT(eval_data),
     .value = "DIR",
     .help = "evaluate on all data in this folder, instead of those that the file names or holds back"},
    {"--cache", .kind = UNET_TEXT, .commands = IN(TRAIN) | IN(EVAL) | IN(CHECK_DATA), .place = AT(cache),
     .value = "DIR", .help = "folder for decoded volumes (beside their files)"},
    {"--skip-bad", .commands = IN(TRAIN) | IN(EVAL) | IN(CHECK_DATA), .place = AT(skip_bad),
     .help = "read all files first, name those that are bad, and take the samples without them"},
    {"--all", .commands = IN(TRAIN) | IN(CHECK_DATA), .place = AT(all),
     .help = "list every problem with the data, not three of each kind"},
    {"--epochs", .kind = UNET_NUMBER, .commands = IN(TRAIN), .min = 1, .max = INT64_MAX,
     .place = AT(epochs), .value = "N", .help = "how long to train, in passes over the data"},
    {"--steps", .kind = UNET_NUMBER, .commands = IN(TRAIN), .min = 1, .max = INT64_MAX, .place = AT(steps),
     .value = "N", .help = "how long to train, in updates"},
    {"--steps", .kind = UNET_NUMBER, .commands = IN(BENCH), .min = 1, .max = INT64_MAX, .place = AT(steps),
     .value = "N", .help = "how many steps to time, at most 200"},
    {"--steps", .kind = UNET_NUMBER, .commands = IN(SAMPLE), .min = 1, .max = INT32_MAX, .place = AT(steps),
     .value = "N", .help = "steps from noise to a picture (50)"},
    {"--count", .kind = UNET_NUMBER, .commands = IN(SAMPLE), .min = 1, .max = 65536, .place = AT(count),
     .value = "N", .help = "how many samples to make (16)"},
    {"--eta", .kind = UNET_TEXT, .commands = IN(SAMPLE), .take = take_eta, .value = "E",
     .help = "noise that a step adds: 0, none, as DDIM; 1, as DDPM (0)"},
    {"--condition", .kind = UNET_TEXT, .commands = IN(SAMPLE), .take = take_condition,
     .value = "NAME=V,...",
     .help = "values of the input NAME, which the samples take in turns: numbers, classes, or files of "
             "pictures; without it an input of named classes takes them all"},
    {"--seed", .kind = UNET_NUMBER, .commands = IN(SAMPLE), .min = 0, .max = INT64_MAX, .place = AT(seed),
     .value = "N", .help = "seed of the noise (0)"},
    {"--lr", .kind = UNET_POSITIVE, .commands = IN(TRAIN), .place = AT(learning_rate), .value = "RATE",
     .help = "learning rate of the optimizer; its schedule scales this one"},
    {"--batch", .kind = UNET_NUMBER, .commands = IN(TRAIN), .min = 1, .max = INT32_MAX, .place = AT(batch),
     .value = "N", .help = "samples of a batch; at most the number that the program was compiled for"},
    {"--seed", .kind = UNET_NUMBER, .commands = IN(TRAIN) | IN(BENCH), .min = 0, .max = INT64_MAX,
     .place = AT(seed), .value = "N",
     .help = "seed of the initial weights, the order of samples and their noise"},
    {"--fold", .kind = UNET_NUMBER, .commands = IN(TRAIN) | IN(EVAL), .min = 0, .max = 999,
     .place = AT(fold), .value = "K",
     .help = "hold out fold K, from 0 on (0), of data that `folds` splits"},
    {"--threads", .kind = UNET_NUMBER,
     .commands = IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(SAMPLE) | IN(BENCH), .min = 1, .max = INT_MAX,
     .place = AT(threads), .value = "N",
     .help = "threads that compute; the result does not depend on their number"},
    {"--fit", .commands = IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(SAMPLE) | IN(BENCH), .place = AT(fit),
     .help = "of the plans of `unetc --plans`, take the largest that there is free memory for; the result "
             "does not depend on it, on a GPU but for rounding"},
    {"--timeout", .kind = UNET_NUMBER, .commands = IN(TRAIN) | IN(BENCH), .min = 1, .max = 1000000,
     .place = AT(timeout), .value = "SECONDS",
     .help = "of several processes: how long one may be silent before all end (600)"},
    {"--trust-network", .commands = IN(TRAIN) | IN(BENCH), .place = AT(trust_network),
     .help = "of several processes on several machines, by TCP: believe whoever comes, without a secret "
             "(UNET_JOB_SECRET)"},
    {"--exchange", .kind = UNET_CHOICE, .commands = IN(TRAIN) | IN(BENCH), .place = AT(exchange),
     .value = "auto|nccl|host",
     .help = "of several processes on GPUs: gradients go from GPU to GPU by NCCL, or through the memory of "
             "the host; auto takes NCCL where the program has it and no two processes share a GPU (auto)"},
    {"--overlap", .kind = UNET_CHOICE, .commands = IN(TRAIN) | IN(BENCH), .place = AT(overlap),
     .value = "yes|no",
     .help = "of several processes: gradients are sent while the backward pass goes on, or behind it; to "
             "the same bits (yes)"},
    {"--reduce", .kind = UNET_CHOICE, .commands = IN(TRAIN) | IN(BENCH), .place = AT(reduce),
     .value = "tree|fast",
     .help = "how gradients of several processes are added: as the file's tree, to the same bits for any "
             "number of processes, or, on GPUs, as NCCL likes: not to the same bits (tree)"},
    {"--out", .kind = UNET_TEXT, .commands = IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(SAMPLE),
     .place = AT(out), .value = "DIR", .help = "folder of the weights, the checkpoint and the log (.)"},
    {"--out", .kind = UNET_TEXT, .commands = IN(TUNE), .place = AT(out), .value = "DIR",
     .help = "folder of the weights, which NAME.engines.json is written to (.)"},
    {"--resume", .kind = UNET_MAYBE, .tag = STARTS, .commands = IN(TRAIN), .take = take_resume,
     .value = "FILE", .help = "continue from the checkpoint in --out, or from FILE"},
    {"--overwrite", .tag = STARTS, .commands = IN(TRAIN), .place = AT(overwrite),
     .help = "begin a new run in place of the one that the folder holds"},
    {"--tensorboard", .kind = UNET_MAYBE, .commands = IN(TRAIN), .take = take_tensorboard, .value = "DIR",
     .help = "also write event files for TensorBoard, in --out/tensorboard, or in DIR"},
    {"--checkpoint-every", .kind = UNET_NUMBER, .commands = IN(TRAIN), .min = 1, .max = INT64_MAX,
     .place = AT(checkpoint_every), .value = "N", .help = "steps between checkpoints"},
    {"--weights", .kind = UNET_TEXT, .tag = STARTS, .commands = IN(TRAIN), .place = AT(weights),
     .value = "FILE",
     .help = "safetensors file to start from; tensors that do not fit are left out, and a note names them"},
    {"--weights", .kind = UNET_TEXT, .tag = STARTS,
     .commands = IN(EVAL) | IN(PREDICT) | IN(SAMPLE) | IN(BENCH), .place = AT(weights), .value = "FILE",
     .help =
         "safetensors file to use; without it, eval, predict and sample take the best weights in --out"},
    {"--map", .kind = UNET_TEXT, .tag = STARTS, .commands = IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(SAMPLE),
     .place = AT(map), .value = "FILE",
     .help = "how names in --weights differ: lines `NAME THERE -> NAME HERE`; * stands for any part"},
    {"--engines", .kind = UNET_TEXT,
     .commands = IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(SAMPLE) | IN(BENCH), .place = AT(engines),
     .value = "FILE",
     .help = "for a GPU: engines that `tune` wrote (NAME.engines.json beside the weights, if it is there)"},
    {"--tune", .tag = STARTS, .commands = IN(TRAIN), .place = AT(tune),
     .help = "for a GPU: run `tune` first, unless engines were timed already"},
    {"--output", .letter = 'o', .kind = UNET_TEXT, .commands = IN(PREDICT), .place = AT(output),
     .value = "OUT", .help = "file to write, or an existing folder, or a new one ending in /"},
    {"--output", .letter = 'o', .kind = UNET_TEXT, .commands = IN(SAMPLE), .place = AT(output),
     .value = "OUT", .help = "picture to write: .png, .jpg or .tif"},
    {"--bits", .kind = UNET_NUMBER, .commands = IN(PREDICT), .min = 8, .max = 32, .place = AT(bits),
     .value = "8|16|24|32",
     .help = "bits of the numbers in a picture that is written (as the input has; .wav: 16; .npy: 32, "
             "which are floats); 24 are for .wav"},
    {"--size", .kind = UNET_CHOICE, .commands = IN(PREDICT), .place = AT(size), .value = "picture|network",
     .help =
         "of pictures that `resize` brings to another size: write results as large as the picture, or as "
         "the network makes them (picture)"},
    {"--overlay", .commands = IN(PREDICT), .place = AT(overlay),
     .help = "also write the picture OUT-overlay: classes in colours over the image"},
    {"--format", .kind = UNET_CHOICE, .commands = IN(EVAL), .place = AT(format), .value = "text|csv|json",
     .help = "text for reading; csv, json: image by image"},
    {"--report", .kind = UNET_MAYBE, .commands = IN(EVAL), .take = take_report, .value = "FILE",
     .help = "also write a page with the ten worst samples, eval.html in --out, or FILE"},
    {"--format", .kind = UNET_CHOICE, .commands = IN(INFO) | IN(BENCH), .place = AT(format),
     .value = "text|json", .help = "text for reading, json for tools"},
};

static const UnetGrammar grammar = {
    .command = unet_commands,
    .ncommand = UNET_COMMANDS,
    .option = rows,
    .noption = sizeof rows / sizeof *rows,
    .plain = -1,
    .help_command = UNET_COMMAND_HELP,
    .version_command = UNET_COMMAND_VERSION,
    .elsewhere = "check|mem|fit|onnx|explain",
    .where = "the compiler: `unetc COMMAND ...`",
    .seen = record,
    .epilogue = "Exit codes: 0 done, 2 usage, 3 not enough memory, 4 data or files, 6 training diverged, "
                "70 a bug, 130 and 143 stopped by a signal (training writes a checkpoint first).",
};

/* Rules that concern several options. */
static UnetStatus check_together(const UnetOptions *options, UnetError *error) {
    if (options->epochs != 0 && options->steps != 0)
        return unet_fail(error, UNET_USAGE,
                         "`--epochs` and `--steps` both set the duration: give one of them");
    if (options->resume && options->weights != NULL)
        return unet_fail(error, UNET_USAGE, "`--resume` loads its own weights: leave `--weights` out");
    if (options->resume && options->resume_file == NULL && options->overwrite)
        return unet_fail(error, UNET_USAGE,
                         "`--resume` goes on with a run and `--overwrite` begins anew: give one of them");
    if (options->tune && options->engines != NULL)
        return unet_fail(error, UNET_USAGE,
                         "`--engines` names engines that were timed, and `--tune` times them: give one of "
                         "them");
    if (options->map != NULL && options->weights == NULL)
        return unet_fail(error, UNET_USAGE, "`--map` is for the names in `--weights`: give both");
    if (options->command == UNET_COMMAND_PREDICT) {
        if (options->nfile == 0)
            return unet_fail(error, UNET_USAGE, "`predict` needs images: predict IN... -o OUT");
        if (options->bits % 8 != 0)
            return unet_fail(error, UNET_USAGE, "`--bits` is 8, 16, 24 or 32");
        if (options->output == NULL)
            return unet_fail(error, UNET_USAGE, "`predict` needs `-o OUT`, the file or folder to write");
    } else if (options->command == UNET_COMMAND_SAMPLE && options->output == NULL) {
        return unet_fail(error, UNET_USAGE, "`sample` needs `-o OUT`, the picture to write");
    } else if (options->command == UNET_COMMAND_COMPLETION) {
        if (options->nfile != 1)
            return unet_fail(error, UNET_USAGE, "`completion` needs a shell: bash, zsh or fish");
    } else if (options->nfile > 0) {
        return unet_fail(error, UNET_USAGE, "`%s` takes no files: leave out `%s`",
                         unet_commands[options->command].name, options->files[0]);
    }
    return UNET_OK;
}

UnetStatus unet_options_parse(UnetOptions *options, int argc, char **argv, UnetError *error) {
    UnetCommandLine line;
    *options = (UnetOptions){.format = "text",
                             .seed = -1,
                             .fold = -1,
                             .timeout = 600,
                             .exchange = "auto",
                             .overlap = "yes",
                             .reduce = "tree",
                             .size = "picture"};
    const UnetStatus status = unet_command_line_read(&grammar, argc, argv, options, &line, error);
    options->command = line.command >= 0 ? (UnetCommand)line.command : UNET_COMMAND_HELP;
    options->about = (UnetCommand)line.about;
    if (status != UNET_OK)
        return status;
    options->files = line.word;
    options->nfile = line.nword;
    return options->command < UNET_COMMAND_HELP ? check_together(options, error) : UNET_OK;
}

void unet_options_advice(const UnetOptions *options, const char *program, char *text, size_t size) {
    unet_command_line_advice(&grammar, program, (int)options->command, text, size);
}

size_t unet_options_help(char *text, size_t size, const char *program, UnetCommand about) {
    return unet_command_line_help(&grammar, program, (int)about, text, size);
}

size_t unet_options_completion(char *text, size_t size, const char *program, const char *shell) {
    return unet_command_line_completion(&grammar, program, shell, text, size);
}
