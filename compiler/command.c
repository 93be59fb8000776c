/* command.c - the command line of unetc: its grammar, and the rules that concern several options. */
#include "command.h"
#include "base/text.h"
#include "ir/target.h"
#include "unet/command_line.h"
#include "unet/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The results of the grammar. */
typedef struct {
    Pool *pool;
    Command command;
} Reading;

/* ---- what an option does, if it is more than a value in its place ---- */

static UnetStatus take_format(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.format = (ReportFormat)value->choice;
    return UNET_OK;
}

static UnetStatus take_max(void *result, const UnetValue *value, UnetError *error) {
    Command *c = &((Reading *)result)->command;
    (void)error;
    c->max = (FitMax)value->choice;
    c->max_given = true;
    return UNET_OK;
}

static UnetStatus take_freeze(void *result, const UnetValue *value, UnetError *error) {
    Reading *r = result;
    LowerOptions *lower = &r->command.lower;
    const char **list = NEW_ARRAY(r->pool, const char *, lower->nfreeze + 1);
    (void)error;
    for (int k = 0; k < lower->nfreeze; k++)
        list[k] = lower->freeze[k];
    list[lower->nfreeze++] = value->text;
    lower->freeze = list;
    return UNET_OK;
}

/* "256x256", "64x128x128", or of a signal "16384" */
static UnetStatus take_size(void *result, const UnetValue *given, UnetError *error) {
    LowerOptions *lower = &((Reading *)result)->command.lower;
    int64_t *size = lower->size;
    const char *text = given->text;
    long long value[AXES];
    int n = 0, used = 0;
    if (sscanf(text, "%lldx%lldx%lld%n", &value[0], &value[1], &value[2], &used) == 3 && text[used] == '\0')
        n = 3;
    else if (sscanf(text, "%lldx%lld%n", &value[0], &value[1], &used) == 2 && text[used] == '\0')
        n = 2;
    else if (sscanf(text, "%lld%n", &value[0], &used) == 1 && text[used] == '\0')
        n = 1;
    if (n == 0)
        return unet_fail(error, UNET_USAGE,
                         "`--size=%s`: write HEIGHTxWIDTH, such as 256x256, DEPTHxHEIGHTxWIDTH, or LENGTH",
                         text);
    size[0] = size[1] = 0;
    for (int k = 0; k < n; k++) {
        if (value[k] < 1 || value[k] > 1 << 24)
            return unet_fail(error, UNET_USAGE, "`--size=%s`: use numbers from 1 to 16777216", text);
        size[AXES - n + k] = value[k];
    }
    lower->nsize = n;
    return UNET_OK;
}

static UnetStatus take_define(void *result, const UnetValue *value, UnetError *error) {
    Reading *r = result;
    LowerOptions *lower = &r->command.lower;
    const char *equals = strchr(value->text, '=');
    if (equals == NULL || equals == value->text)
        return unet_fail(error, UNET_USAGE, "-D %s: write -D NAME=VALUE", value->text);
    Define *list = NEW_ARRAY(r->pool, Define, lower->ndefine + 1);
    for (int k = 0; k < lower->ndefine; k++)
        list[k] = lower->define[k];
    list[lower->ndefine++] =
        (Define){pool_copy(r->pool, value->text, (size_t)(equals - value->text)), equals + 1};
    lower->define = list;
    return UNET_OK;
}

static UnetStatus take_seed(void *result, const UnetValue *value, UnetError *error) {
    LowerOptions *lower = &((Reading *)result)->command.lower;
    (void)error;
    lower->seed = value->number;
    lower->has_seed = true;
    return UNET_OK;
}

static UnetStatus take_programs(void *result, const UnetValue *value, UnetError *error) {
    static const char *const programs[PROGRAMS] = {"train", "eval", "predict"};
    Reading *r = result;
    char *list = pool_copy(r->pool, value->text, strlen(value->text));
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
        int k = 0;
        while (k < PROGRAMS && strcmp(word, programs[k]) != 0)
            k++;
        if (k == PROGRAMS)
            return unet_fail(error, UNET_USAGE, "`--programs=%s`: use train, eval or predict", word);
        r->command.options.wanted[k] = true;
        r->command.programs_given = true;
    }
    return r->command.programs_given
               ? UNET_OK
               : unet_fail(error, UNET_USAGE,
                           "`--programs=%s`: name some of train, eval, predict, such as "
                           "--programs=train,eval",
                           value->text);
}

/* Puts BYTES among the budgets of --plans, the largest first, unless it is there. */
static UnetStatus add_plan(Command *c, int64_t bytes, UnetError *error) {
    int k = 0;
    while (k < c->nplan && c->plan[k] > bytes)
        k++;
    if (k < c->nplan && c->plan[k] == bytes)
        return UNET_OK;
    if (c->nplan == UNET_MOST_PLANS)
        return unet_fail(error, UNET_USAGE, "--plans: a program holds %d plans at most",
                         (int)UNET_MOST_PLANS);
    memmove(c->plan + k + 1, c->plan + k, (size_t)(c->nplan - k) * sizeof *c->plan);
    c->plan[k] = bytes;
    c->nplan++;
    return UNET_OK;
}

static UnetStatus take_plans(void *result, const UnetValue *value, UnetError *error) {
    Reading *r = result;
    char *list = pool_copy(r->pool, value->text, strlen(value->text));
    UnetStatus status = UNET_OK;
    for (char *word = strtok(list, ","); word != NULL && status == UNET_OK; word = strtok(NULL, ",")) {
        int64_t bytes;
        status = unet_read_bytes("--plans", word, &bytes, error);
        if (status == UNET_OK)
            status = add_plan(&r->command, bytes, error);
    }
    if (status == UNET_OK && r->command.nplan < 2)
        return unet_fail(error, UNET_USAGE, "`--plans=%s`: name several sizes, such as --plans=2GiB,8GiB",
                         value->text);
    return status;
}

static void choose(Options *options, const Target *target, const Architecture *architecture) {
    options->target = target;
    options->architecture = architecture == NULL ? NULL : architecture->architecture;
    options->card = architecture == NULL ? NULL : architecture->word;
}

/* "cuda", "cuda:sm_80", "cuda:h200"; a target that has several architectures alone means the first. */
static UnetStatus take_target(void *result, const UnetValue *value, UnetError *error) {
    Reading *r = result;
    const char *names = "";
    for (const Target *const *t = targets; *t != NULL; t++) {
        const Architecture *a = (*t)->architecture;
        choose(&r->command.options, *t, a);
        if (strcmp(value->text, (*t)->name) == 0)
            return UNET_OK;
        names = pool_text(r->pool, "%s%s%s", names, *names != '\0' ? ", " : "", (*t)->name);
        for (; a != NULL && a->word != NULL; a++) {
            const char *name = pool_text(r->pool, "%s:%s", (*t)->name, a->word);
            choose(&r->command.options, *t, a);
            if (strcmp(value->text, name) == 0)
                return UNET_OK;
            names = pool_text(r->pool, "%s, %s", names, name);
        }
    }
    return unet_fail(error, UNET_USAGE, "`--target=%s`: use one of %s", value->text, names);
}

static UnetStatus take_isa(void *result, const UnetValue *value, UnetError *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.+_-";
    Options *options = &((Reading *)result)->command.options;
    const bool is_name = strspn(value->text, letters) == strlen(value->text) && *value->text != '\0';
    if (!is_name)
        return unet_fail(error, UNET_USAGE,
                         "--isa=%s: write native or portable, or a name that the C compiler knows, such as "
                         "armv8-a",
                         value->text);
    options->portable = strcmp(value->text, "portable") == 0;
    if (!options->portable && strcmp(value->text, "native") != 0)
        options->instructions = value->text;
    return UNET_OK;
}

static UnetStatus take_precision(void *result, const UnetValue *value, UnetError *error) {
    static const Type stored[] = {TYPE_F32, TYPE_F64, TYPE_F32, TYPE_BF16, TYPE_F16};
    Options *options = &((Reading *)result)->command.options;
    (void)error;
    options->stored = stored[value->choice];
    options->real = options->stored == TYPE_F64 ? TYPE_F64 : TYPE_F32;
    options->tf32 = value->choice == 2;
    options->has_precision = true;
    return UNET_OK;
}

static UnetStatus take_batch_norm(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.lower.batch_norm = (BatchNorm)value->choice;
    return UNET_OK;
}

/* Both in the order of their values, 32 last. */
static UnetStatus take_compress(void *result, const UnetValue *value, UnetError *error) {
    static const int64_t bits[] = {8, 4, 2, 32};
    (void)error;
    ((Reading *)result)->command.lower.compress = bits[value->choice];
    return UNET_OK;
}

static UnetStatus take_state(void *result, const UnetValue *value, UnetError *error) {
    static const int64_t bits[] = {8, 32};
    (void)error;
    ((Reading *)result)->command.lower.state = bits[value->choice];
    return UNET_OK;
}

static UnetStatus take_staging(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.staging = (Staging)value->choice;
    return UNET_OK;
}

static UnetStatus take_kernels(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.reference = value->choice == 1;
    return UNET_OK;
}

static UnetStatus take_conv(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.conv = (ConvMethod)value->choice;
    return UNET_OK;
}

static UnetStatus take_upconv(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.upconv = (UpconvMethod)value->choice;
    return UNET_OK;
}

/* "auto|off|N": 0, 1 or N. */
static int parts(const UnetValue *value) {
    return value->choice < 2 ? value->choice : (int)value->number;
}

static UnetStatus take_micro_batches(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.micro_batches = parts(value);
    return UNET_OK;
}

static UnetStatus take_bands(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.bands = parts(value);
    return UNET_OK;
}

static UnetStatus take_branches(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.no_branches = value->choice == 1;
    return UNET_OK;
}

static UnetStatus take_threads(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.options.max_threads = (int)value->number;
    return UNET_OK;
}

/* A stage, or "graph:after=PASS"; which passes there are, only the pipeline knows. */
static UnetStatus take_emit(void *result, const UnetValue *value, UnetError *error) {
    static const char after[] = "graph:after=";
    static const char *const stage[] = {"ast", "graph", "plan", "remat"};
    Command *c = &((Reading *)result)->command;
    c->after = NULL;
    for (int k = 0; k < 4; k++)
        if (strcmp(value->text, stage[k]) == 0) {
            c->stage = (EmitStage)(EMIT_AST + k);
            return UNET_OK;
        }
    if (strncmp(value->text, after, sizeof after - 1) != 0)
        return unet_fail(error, UNET_USAGE, "`--emit=%s`: use ast, graph, plan, remat or graph:after=PASS",
                         value->text);
    c->stage = EMIT_GRAPH;
    c->after = value->text + sizeof after - 1;
    if (*c->after == '\0')
        return unet_fail(error, UNET_USAGE,
                         "`--emit=%s`: the name of a pass is missing, such as --emit=graph:after=autodiff",
                         value->text);
    return UNET_OK;
}

static UnetStatus take_color(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.color = (ColorChoice)value->choice;
    return UNET_OK;
}

static UnetStatus take_error_format(void *result, const UnetValue *value, UnetError *error) {
    (void)error;
    ((Reading *)result)->command.error_format = (ErrorFormat)value->choice;
    return UNET_OK;
}

/* ---- the grammar ---- */

/* The effect of an option: on neither plan nor training, on the plan, on the trained model. */
enum { ASIDE, PLAN, TRAINING };

#define OF(command) (1u << COMMAND_##command)
#define AT(field) offsetof(Reading, command.field)
enum {
    FILES = OF(COMPILE) | OF(CHECK) | OF(MEM) | OF(FIT), /* all that plan what a .unet file says */
    ALL = FILES | OF(ONNX) | OF(EXPLAIN) | OF(RUNTIME)
};

static const UnetOptionRow options[] = {
    {"--output", .letter = 'o', .kind = UNET_TEXT, .commands = OF(COMPILE), .place = AT(output),
     .value = "PROG", .help = "the program to write (the name of FILE.unet)",
     .instead = "write `unetc -o PROG FILE.unet`"},
    {"--output", .letter = 'o', .kind = UNET_TEXT, .commands = OF(MEM), .place = AT(output),
     .value = "FILE", .help = "the file to write the report to (standard output)"},
    {"--output", .letter = 'o', .kind = UNET_TEXT, .commands = OF(ONNX), .place = AT(output),
     .value = "MODEL.onnx", .help = "the file to write (the name of FILE.unet)"},
    {"-S", .letter = 'S', .kind = UNET_TEXT, .commands = OF(COMPILE), .place = AT(folder), .value = "DIR",
     .help = "write the C sources, a header and a CMakeLists.txt to this folder instead",
     .instead = "write `unetc -S DIR FILE.unet`"},
    {"--weights", .kind = UNET_TEXT, .commands = OF(ONNX), .place = AT(weights), .value = "FILE",
     .help = "weights or a checkpoint, as `train` writes them; required",
     .instead = "it is for `unetc onnx`; programs take --weights when they run"},
    {"--map", .kind = UNET_TEXT, .commands = OF(ONNX), .place = AT(map), .value = "FILE",
     .help = "how names in --weights differ: lines `NAME THERE -> NAME HERE`; * stands for any part",
     .instead = "it is for `unetc onnx`; programs take --map when they run"},
    {"--format", .kind = UNET_CHOICE, .commands = OF(MEM), .take = take_format,
     .value = "text|json|csv|html",
     .help = "text for reading; json for tools; csv: the buffers, with the columns id, lower, upper, size, "
             "offset; html: a map of the memory over time. --diff prints text or json",
     .instead = "it is for `unetc check`, `mem` and `fit`; --error-format=json is for diagnostics"},
    {"--format", .kind = UNET_CHOICE, .commands = OF(FIT) | OF(CHECK), .take = take_format,
     .value = "text|json", .help = "text for reading, json for tools",
     .instead = "it is for `unetc check`, `mem` and `fit`; --error-format=json is for diagnostics"},
    {"--diff", .commands = OF(MEM), .place = AT(diff), .help = "compare two files or plans",
     .instead = "write `unetc mem --diff A B`"},
    {"--max", .kind = UNET_CHOICE, .commands = OF(FIT), .take = take_max, .value = "batch|size",
     .help = "what to enlarge; required", .instead = "write `unetc fit --max=batch FILE.unet`"},
    {"--mem", .kind = UNET_BYTES, .commands = FILES & ~OF(FIT), .tag = PLAN, .place = AT(options.budget),
     .value = "SIZE",
     .help = "budget of the arena; if no plan fits, that is an error (exit 3). 8GiB or 8G: 8 x 2^30 bytes; "
             "8GB: 8 x 10^9; K, M and T alike"},
    {"--mem", .kind = UNET_BYTES, .commands = OF(FIT), .tag = PLAN, .place = AT(options.budget),
     .value = "SIZE",
     .help = "memory for the arena and what lies beside it. 8GiB or 8G: 8 x 2^30 bytes; 8GB: 8 x 10^9; K, "
             "M and T alike"},
    {"--plans", .kind = UNET_TEXT, .commands = OF(COMPILE), .take = take_plans, .value = "SIZE,SIZE,...",
     .help =
         "a program with a plan for each of these budgets, as --mem has them; kernels are "
         "shared. `--fit` of the program takes the largest that the machine, or its GPU, has memory for. "
         "All train to the same result, on a GPU but for rounding where samples are taken in turns",
     .instead = "write `unetc --plans=SIZE,SIZE FILE.unet`"},
    {"--batch", .kind = UNET_NUMBER, .commands = FILES, .tag = TRAINING, .place = AT(lower.batch), .min = 1,
     .max = 1 << 20, .value = "N", .help = "samples of a batch, instead of what the file says"},
    {"--accumulate", .kind = UNET_NUMBER, .commands = FILES, .tag = TRAINING, .place = AT(lower.accumulate),
     .min = 1, .max = 1 << 20, .value = "N",
     .help = "batches of a step, instead of what the file says: a step of N x batch samples"},
    {"--batch-norm", .kind = UNET_CHOICE, .commands = FILES | OF(ONNX), .tag = TRAINING,
     .take = take_batch_norm, .value = "batch|running|group|instance",
     .help = "how training normalises where the file says `batch_norm`: by the statistics of the batch, as "
             "written; by the running statistics, which it then leaves as they are; as `group_norm`; as "
             "`instance_norm`. All but the first see each sample by itself, and train another network"},
    {"--compress", .kind = UNET_CHOICE, .commands = FILES, .tag = TRAINING, .take = take_compress,
     .value = "8|4|2|32",
     .help =
         "activations wait for the backward pass in codes of so many bits, instead of what the file says "
         "(`compress`); 32: as they are. Another result, the same under every budget"},
    {"--state", .kind = UNET_CHOICE, .commands = FILES, .tag = TRAINING, .take = take_state,
     .value = "8|32",
     .help =
         "the optimizer's state in so many bits, instead of what the file says (`state`). Another result, "
         "the same under every budget"},
    {"--ranks", .kind = UNET_NUMBER, .commands = FILES, .tag = TRAINING, .place = AT(lower.ranks), .min = 1,
     .max = MOST_RANKS, .value = "N",
     .help = "processes that may train together, instead of what the file says"},
    {"--processes", .kind = UNET_NUMBER, .commands = FILES, .tag = PLAN, .place = AT(lower.processes),
     .min = 1, .max = MOST_RANKS, .value = "N",
     .help = "of `ranks`, plan for N processes or more (1), which each hold their share of a batch"},
    {"--shard-optimizer", .commands = FILES, .tag = PLAN, .place = AT(lower.shards_optimizer),
     .help = "with `ranks`: each process holds and updates a slice of the optimizer's state, of as many as "
             "--processes says, or as `ranks`"},
    {"--size", .kind = UNET_TEXT, .commands = FILES | OF(ONNX), .tag = TRAINING, .take = take_size,
     .value = "HxW", .help = "size of the inputs, or DxHxW, or a signal's length, instead of the file's"},
    {"-D", .letter = 'D', .kind = UNET_TEXT, .commands = FILES | OF(ONNX), .tag = TRAINING,
     .take = take_define, .value = "NAME=VALUE", .help = "another value of a `let` of the file"},
    {"--freeze", .kind = UNET_TEXT, .commands = FILES, .tag = TRAINING, .take = take_freeze,
     .value = "LAYERS",
     .help = "do not train the layers of this name, nor those whose names begin with it and a dot; * "
             "stands for any characters; may be given several times"},
    {"--probabilities", .commands = FILES | OF(ONNX), .tag = PLAN, .place = AT(lower.probabilities),
     .help =
         "predict the probabilities of classes, too: an output `mask` of `argmax` has `mask_probabilities` "
         "beside it, a channel for each class"},
    {"--seed", .kind = UNET_NUMBER, .commands = FILES, .tag = TRAINING, .take = take_seed, .min = 0,
     .max = INT64_MAX, .value = "N", .help = "seed of training, instead of what the file says"},
    {"--programs", .kind = UNET_TEXT, .commands = FILES, .tag = PLAN, .take = take_programs,
     .value = "train,eval,predict", .help = "build these alone; `predict` has no training code"},
    {"--shared", .commands = OF(COMPILE), .place = AT(options.shared),
     .help =
         "a shared library (libNAME.so) instead of a program: other programs load it while they run, as "
         "Python does; unet/door.h describes its one symbol",
     .instead = "write `unetc --shared FILE.unet`"},
    {"--no-cache", .commands = OF(COMPILE), .place = AT(options.no_cache),
     .help = "compile every file, and keep no object for the next build"},
    {"--no-images", .commands = FILES, .tag = PLAN, .place = AT(options.no_images),
     .help = "a small program that predicts, alone and by one thread: it links the C library and no reader "
             "of images, reads Netpbm, BMP and NumPy's arrays, and writes Netpbm and NumPy's"},
    {"--target", .kind = UNET_TEXT, .commands = FILES, .tag = PLAN, .take = take_target,
     .value = "cpu|cuda[:ARCH]",
     .help = "the machine to compile for (cpu). ARCH: sm_90 (H100), h200, sm_100 (B200), sm_120 (RTX "
             "5090), or sm_80 (A100, GeForce 30 and 40 series)"},
    {"--isa", .kind = UNET_TEXT, .commands = FILES, .tag = PLAN, .take = take_isa,
     .value = "native|portable|ARCH",
     .help = "native: for processors that have all instructions of this one; portable: for all of its "
             "kind; on x86-64 the program then holds code for several levels of instructions, and picks "
             "the best when it starts. ARCH: a name that the C compiler knows, such as armv8-a"},
    {"--cc", .kind = UNET_TEXT, .commands = OF(COMPILE), .place = AT(options.compiler), .value = "COMPILER",
     .help = "the C compiler; of another kind of processor, such as aarch64-linux-gnu-gcc, with "
             "--no-images and --isa=ARCH"},
    {"--precision", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_precision,
     .value = "f32|f64|tf32|bf16|f16",
     .help = "bf16, f16: activations and their gradients take 16 bits, everything else is f32; f16 scales "
             "the loss; tf32 is for cuda; f64 needs --kernels=reference"},
    {"--staging", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_staging,
     .value = "auto|f32|u16|u8",
     .help =
         "how pictures wait for a step: u8 rounds them to n / 255, which is exact for pictures of 8 bits, "
         "u16 (for the CPU) to n / 65535, exact for 8 and 16 bits. auto: on a CPU the fewest bits that "
         "are exact for all files that the file's patterns name, else f32; for cuda f32"},
    {"--nondeterministic", .commands = FILES, .tag = PLAN, .place = AT(options.nondeterministic),
     .help = "for cuda: faster convolutions whose results differ from run to run"},
    {"--engines", .kind = UNET_TEXT, .commands = FILES, .tag = PLAN, .place = AT(options.engines),
     .value = "FILE",
     .help = "for cuda: plan with the engines that `PROG tune` measured and wrote to NAME.engines.json"},
    {"--kernels", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_kernels,
     .value = "fast|reference", .help = "reference: slow, obvious, for checking"},
    {"--conv", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_conv,
     .value = "auto|direct|winograd|fast",
     .help = "how a CPU computes 3x3 convolutions. auto: by Winograd's method from 16 channels and 12 "
             "columns on, but never in bf16 if the processor at hand multiplies matrices of bf16 (AMX); "
             "winograd: by that method wherever possible; direct: never by it, which takes "
             "less memory for weights; fast: as auto, with factors in bf16 if the processor multiplies "
             "these: results differ by 1 % instead of a millionth. On cuda, cuDNN chooses"},
    {"--upconv", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_upconv,
     .value = "auto|cudnn|cells",
     .help = "for cuda, in 16 bits: who computes transposed convolutions whose kernel is their stride. "
             "cells: a kernel that adds the bias, too; cudnn: cuDNN, and another kernel adds the bias; "
             "auto: who is expected to be faster"},
    {"--micro-batches", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_micro_batches,
     .min = 1, .max = 1 << 20, .value = "auto|off|N",
     .help = "train a few samples at a time; the result is the same"},
    {"--bands", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_bands, .min = 1,
     .max = 1 << 20, .value = "auto|off|N",
     .help = "compute in about N bands of rows where possible, and keep only the rows that are still "
             "needed. The result is the same, except that cuda rounds trained weights differently. On a "
             "CPU, prediction then takes images of any height. auto: if the budget asks for it, or if it "
             "costs nothing"},
    {"--branches", .kind = UNET_CHOICE, .commands = FILES, .tag = PLAN, .take = take_branches,
     .value = "auto|off",
     .help = "for cuda. auto: gradients of weights are computed beside those of activations, in a second "
             "stream, where that takes no more memory than there is; the result is the same"},
    {"--max-threads", .kind = UNET_NUMBER, .commands = FILES, .tag = PLAN, .take = take_threads, .min = 1,
     .max = UNET_MOST_THREADS, .value = "N", .help = "threads a program may use (default 16)"},
    {"--no-reuse", .commands = FILES, .tag = PLAN, .place = AT(options.no_reuse),
     .help = "no two buffers share bytes"},
    {"--keep-gradients", .commands = FILES, .tag = PLAN, .place = AT(options.keep_gradients),
     .help =
         "the gradients of parameters stay in the arena until the step ends, for a program that reads "
         "them there; otherwise the optimiser may take each as soon as it is complete, and its bytes go "
         "to others. The result is the same"},
    {"--no-recompute", .commands = FILES, .tag = PLAN, .place = AT(options.no_recompute),
     .help = "keep every tensor until its last reader, and compute none twice, not even where that costs "
             "next to nothing"},
    {"--effort", .kind = UNET_NUMBER, .commands = FILES, .tag = PLAN, .place = AT(options.effort), .min = 1,
     .max = 1000, .value = "N",
     .help = "search N times as long for what to compute twice (1): training computes less twice, and some "
             "plans fit that were not found before. It matters where the budget is small"},
    {"--steps-per-file", .kind = UNET_NUMBER, .commands = FILES, .tag = PLAN,
     .place = AT(options.steps_per_file), .min = 1, .max = INT32_MAX, .value = "N",
     .help = "C files list the steps of a longer program in functions of N steps, a file for each, so that "
             "the C "
             "compiler takes them one beside the other (512)"},
    {"--poison", .commands = FILES, .tag = PLAN, .place = AT(options.poison),
     .help = "build a program that stops at the first access outside a buffer's lifetime"},
    {"--emit", .kind = UNET_TEXT, .commands = OF(COMPILE), .take = take_emit, .value = "STAGE",
     .help =
         "print a stage and stop. ast: the syntax tree; graph: the graph of the file; graph:after=PASS: "
         "the graphs of the programs after a pass; plan: the plan; remat: what may be computed again",
     .instead = "write `unetc --emit=graph FILE.unet`"},
    {"--color", .kind = UNET_CHOICE, .commands = ALL, .take = take_color, .value = "auto|always|never",
     .help = "colours of diagnostics"},
    {"--error-format", .kind = UNET_CHOICE, .commands = ALL, .take = take_error_format,
     .value = "human|json", .help = "json: diagnostics for editors, one line of JSON each"},
    {"-Werror", .commands = ALL, .place = AT(warnings_are_errors), .help = "warnings are errors"},
    {"--lr", .kind = UNET_MAYBE,
     .instead = "programs do, when they run; the file says `optimizer adam(lr = ...)`"},
    {"--epochs", .kind = UNET_MAYBE, .instead = "programs do, when they run; the file says `epochs`"},
    {"--data", .kind = UNET_MAYBE,
     .instead = "programs do, when they run; the file names patterns in `data`"},
    {"--threads", .kind = UNET_MAYBE, .instead = "programs do, when they run; see --max-threads"},
};
enum { OPTIONS = sizeof options / sizeof *options };

static const UnetCommandRow commands[] = {
    [COMMAND_COMPILE] = {.arguments = "[OPTIONS] [-o PROG] FILE.unet\n[OPTIONS] -S DIR FILE.unet",
                         .more =
                             "Compiles a U-Net, its training and its data into one program with one fixed "
                             "buffer, or with -S into C sources."},
    [COMMAND_CHECK] = {"check", false, "[OPTIONS] FILE.unet", "check names and shapes; nothing is planned",
                       "Prints the inputs and outputs with their shapes, the number of parameters, and the "
                       "sizes of input that the network takes.  Exit code 1: the file has errors."},
    [COMMAND_MEM] =
        {"mem", false, "[OPTIONS] FILE.unet\n[OPTIONS] --diff A B",
         "print the memory plan; nothing is compiled or run",
         "Prints how many bytes the programs need and for what.  --diff prints what changed from A to B; "
         "each is a .unet file or a plan that --format=json printed.  Exit code 1: B needs more than A."},
    [COMMAND_FIT] = {"fit", false, "[OPTIONS] --max=batch|size FILE.unet",
                     "find the largest batch or size of the input that fits a budget",
                     "Without --mem it tries usual amounts of memory.  Exit code 3: nothing fits."},
    [COMMAND_ONNX] =
        {"onnx", false, "[OPTIONS] --weights=FILE FILE.unet",
         "write the trained network for other programs",
         "Writes the network of prediction and its weights to an ONNX file (opset 17), which ONNX Runtime "
         "and others read.  The network in it takes batches of any length and images of the size in "
         "FILE.unet: f32, channels first, 0 to 1.  Exit code 4: the weights do not fit "
         "the network."},
    [COMMAND_EXPLAIN] =
        {"explain", false, "CODE | WORD | settings | operators",
         "explain a diagnostic, a word of the language, or all words",
         "`unetc explain U0401` explains a diagnostic at length; `unetc explain conv` shows how a word is "
         "called; `settings` and `operators` print all of them with their defaults."},
    [COMMAND_WORDS] =
        {"words", false, "", "list the operators and settings, and how they are called",
         "A line for each word of the language: its kind, a tab, and the word with its arguments "
         "and their defaults."},
    [COMMAND_COMPLETION] =
        {"completion", false, "bash|zsh|fish", "print a script by which a shell completes options",
         "Shells find the scripts of an installed unetc by themselves.  For any other write, in ~/.bashrc: "
         "eval \"$(unetc completion bash)\".  In ~/.zshrc, below compinit: eval \"$(unetc completion "
         "zsh)\".  In ~/.config/fish/config.fish: unetc completion fish | source."},
    [COMMAND_RUNTIME] = {"runtime", true, "", "print the folder of the runtime library", NULL},
    [COMMAND_HELP] = {"help", true, "[COMMAND]", NULL, NULL},
    [COMMAND_VERSION] = {"version", true, "", NULL, NULL},
};

/* The options so far and one more, as one would type them. */
static const char *with_option(Pool *pool, const char *so_far, const UnetOptionRow *row,
                               const char *value) {
    const char *join = row->kind == UNET_FLAG ? "" : row->letter != 0 ? " " : "=";
    return pool_text(pool, "%s%s%s%s%s", so_far, *so_far != '\0' ? " " : "", row->name, join, value);
}

static void record(void *result, const UnetOptionRow *row, const UnetValue *value) {
    Reading *r = result;
    Options *o = &r->command.options;
    if (row->tag != ASIDE)
        o->command = with_option(r->pool, o->command, row, value->text);
    if (row->tag == TRAINING)
        o->training = with_option(r->pool, o->training, row, value->text);
}

static const UnetGrammar grammar = {
    .program = "unetc",
    .command = commands,
    .ncommand = sizeof commands / sizeof *commands,
    .option = options,
    .noption = OPTIONS,
    .plain = COMMAND_COMPILE,
    .help_command = COMMAND_HELP,
    .version_command = COMMAND_VERSION,
    .elsewhere = "train|eval|predict|check-data|info|bench|tune",
    .where = "the program that unetc makes: `unetc NAME.unet`, then `./NAME COMMAND`",
    .epilogue = "Exit codes: 0 done, 1 errors in the file, 2 usage, 3 does not fit, 4 input or output, "
                "5 a compiler failed, 70 a bug of unetc.\n"
                "The C compiler is $CC, or cc.  Objects are kept for the next build in $UNETC_CACHE, or in "
                "unetc in $XDG_CACHE_HOME or in ~/.cache; UNETC_CACHE=off keeps none.  For cuda: nvcc is "
                "$NVCC, or that of $CUDA_HOME or "
                "/usr/local/cuda; cuDNN is looked for there, too, and in $CUDNN_ROOT/lib.",
    .seen = record,
};

/* A mistake in the options of COMMAND, or -1. */
_Noreturn static void usage_error(int command, const char *format, const char *word) {
    char advice[128];
    unet_command_line_advice(&grammar, grammar.program, command, advice, sizeof advice);
    fputs("unetc: ", stderr);
    fprintf(stderr, format, word);
    fprintf(stderr, "\n%s\n", advice);
    exit(EXIT_USAGE);
}

/* ---- rules that concern several options ---- */

/* Reports two options that exclude each other. */
static void check_together(const Command *c) {
    if (c->folder != NULL && c->output != NULL)
        usage_error((int)c->kind, "%s", "-S writes sources, and -o names a program: leave one out");
    if (c->stage != EMIT_ALL && (c->folder != NULL || c->output != NULL))
        usage_error((int)c->kind, "--emit prints and stops: leave out %s", c->folder != NULL ? "-S" : "-o");
    if (c->stage == EMIT_REMAT && c->options.no_recompute)
        usage_error((int)c->kind, "%s",
                    "--emit=remat prints what may be computed again: leave out --no-recompute");
    if (c->kind == COMMAND_FIT && c->max_given && c->max == FIT_BATCH && c->lower.batch > 0)
        usage_error((int)c->kind, "%s",
                    "`unetc fit --max=batch` looks for the batch itself: leave out --batch");
}

/* Options that a shared library leaves no place for. */
static void check_shared(const Command *c) {
    const char *other = c->folder != NULL      ? "-S writes sources, whose CMakeLists.txt makes a library"
                        : c->stage != EMIT_ALL ? "--emit prints and stops"
                        : c->options.no_images ? "--no-images makes a small program"
                        : c->options.poison    ? "--poison makes a program that stops at mistakes"
                                               : NULL;
    if (c->options.shared && other != NULL)
        usage_error((int)c->kind, "%s, and --shared makes a library that programs load: leave one out",
                    other);
}

/* Options that leave no choice among plans. */
static void check_plans(const Command *c) {
    const char *other = c->options.budget > 0  ? "--mem is the budget of one plan"
                        : c->stage != EMIT_ALL ? "--emit prints one plan"
                        : c->options.shared    ? "--shared makes a library, with one plan"
                                               : NULL;
    if (c->nplan > 0 && other != NULL)
        usage_error((int)c->kind, "%s, and --plans asks for several: leave one out", other);
}

static void check_reports(const Command *c) {
    bool two = c->format == REPORT_TEXT || c->format == REPORT_JSON;
    if (c->diff && c->other == NULL)
        usage_error((int)c->kind, "%s", "--diff compares two files or plans: write `unetc mem --diff A B`");
    if (c->diff && !two)
        usage_error((int)c->kind, "%s", "--diff prints text or json: use --format=text or --format=json");
    if (c->kind == COMMAND_FIT && !c->max_given)
        usage_error((int)c->kind, "%s", "`unetc fit` needs --max=batch or --max=size");
}

static void check_target(const Command *c) {
    if (c->options.engines != NULL && c->options.target->measured == NULL)
        usage_error((int)c->kind, "%s",
                    "--engines is for --target=cuda: it names ways of cuDNN to compute convolutions");
    const bool builds = c->kind == COMMAND_COMPILE && c->folder == NULL;
    const char *why = c->options.target->refuses(&c->options, builds);
    if (why != NULL)
        usage_error((int)c->kind, "%s", why);
}

static void check_onnx(const Command *c) {
    if (c->kind == COMMAND_ONNX && c->weights == NULL)
        usage_error((int)c->kind, "%s",
                    "`unetc onnx` needs the trained weights: write --weights=FILE.safetensors");
}

/* Which programs there are, and by how many threads they run, where no option says so. */
static void settle_programs(Command *c) {
    Options *o = &c->options;
    const bool trains = o->wanted[PROGRAM_TRAIN] || o->wanted[PROGRAM_EVAL];
    if (o->no_images && trains)
        usage_error((int)c->kind, "%s",
                    "--no-images makes a program that predicts alone: write --programs=predict, or leave "
                    "--programs out");
    if (o->no_images && o->max_threads > 1)
        usage_error((int)c->kind, "%s",
                    "--no-images makes a program of one thread: leave out --max-threads");
    for (int k = 0; k < PROGRAMS && !c->programs_given; k++)
        o->wanted[k] = !o->no_images || k == PROGRAM_PREDICT;
    if (o->max_threads == 0)
        o->max_threads = o->no_images ? 1 : 16;
}

static int most_words(const Command *c) {
    return c->kind == COMMAND_RUNTIME || c->kind == COMMAND_WORDS ? 0 : c->diff ? 2 : 1;
}

/* Returns the word that a command misses. */
static const char *missing_word(const Command *c) {
    return c->kind == COMMAND_EXPLAIN ? "no code given: write `unetc explain U0401`, for example"
           : c->kind == COMMAND_COMPLETION
               ? "no shell given: write `unetc completion bash`, or zsh, or fish"
           : c->diff                  ? "no files given: write `unetc mem --diff A B`"
           : c->kind == COMMAND_CHECK ? "no .unet file given: write `unetc check FILE.unet`"
           : c->kind == COMMAND_MEM   ? "no .unet file given: write `unetc mem FILE.unet`"
           : c->kind == COMMAND_FIT   ? "no .unet file given: write `unetc fit --max=batch FILE.unet`"
           : c->kind == COMMAND_ONNX  ? "no .unet file given: write `unetc onnx --weights=FILE FILE.unet`"
                                      : "no .unet file given: write `unetc FILE.unet`";
}

/* The words of the line: a file, two of --diff, a code, a shell. */
static void take_words(Command *c, const UnetCommandLine *line) {
    const int most = most_words(c);
    if (line->nword > most && most == 0)
        usage_error((int)c->kind,
                    c->kind == COMMAND_WORDS ? "`unetc words` takes no file: remove `%s`"
                                             : "`unetc --runtime` takes no file: remove `%s`",
                    line->word[0]);
    if (line->nword > most)
        usage_error((int)c->kind,
                    c->kind == COMMAND_EXPLAIN      ? "only one code at a time: remove `%s`"
                    : c->kind == COMMAND_COMPLETION ? "only one shell at a time: remove `%s`"
                                                    : "only one file at a time: remove `%s`",
                    line->word[most]);
    if (line->nword == 0 && most > 0)
        usage_error((int)c->kind, "%s", missing_word(c));
    c->file = line->nword > 0 ? line->word[0] : NULL;
    c->other = line->nword > 1 ? line->word[1] : NULL;
    c->lower.path = c->file;
}

_Noreturn static void print_completion(const char *shell) {
    char text[65536];
    const size_t length = unet_command_line_completion(&grammar, grammar.program, shell, text, sizeof text);
    if (length == 0)
        usage_error(COMMAND_COMPLETION, "completion: there is none for `%s`, but for bash, zsh and fish",
                    shell);
    (void)fwrite(text, 1, length, stdout);
    exit(fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO);
}

_Noreturn static void print_help(int about) {
    char text[16384];
    (void)fwrite(text, 1, unet_command_line_help(&grammar, grammar.program, about, text, sizeof text),
                 stdout);
    exit(EXIT_DONE);
}

/* Asks for the facts of the processor at hand. */
static void ask_processor(Options *o) {
    if (o->portable || o->instructions != NULL)
        return;
    o->has_matrices = unet_lacking_instruction(INT64_C(1) << UNET_MATRICES_BIT) == NULL;
    o->slow_pairs = unet_pairs_are_slow();
}

Command command_read(Pool *pool, int argc, char **argv) {
    Reading r = {.pool = pool,
                 .command = {.options = {.target = targets[0], .command = "", .training = ""}}};
    Command *c = &r.command;
    UnetCommandLine line;
    UnetError error;
    if (unet_command_line_read(&grammar, argc, argv, &r, &line, &error) != UNET_OK)
        usage_error(line.command, "%s", error.text);
    if (line.command == COMMAND_HELP)
        print_help(line.about);
    if (line.command == COMMAND_VERSION) {
        puts("unetc " UNETC_VERSION);
        exit(EXIT_DONE);
    }
    c->kind = (CommandKind)line.command;
    take_words(c, &line);
    if (c->kind == COMMAND_COMPLETION)
        print_completion(c->file);
    ask_processor(&c->options);
    check_together(c);
    check_shared(c);
    check_reports(c);
    check_onnx(c);
    settle_programs(c);
    check_target(c);
    check_plans(c);
    return *c;
}
