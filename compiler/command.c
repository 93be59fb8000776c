/* command.c - the command line of unetc, as a table of options. */
#include "ir/target.h"
#include "command.h"
#include "base/text.h"
#include "unet/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "unetc - compiles a U-Net, its training and its data into one program with one fixed buffer\n"
    "\n"
    "usage: unetc [-o PROG] [options] FILE.unet     compile to a program (PROG: the file's name)\n"
    "       unetc -S DIR [options] FILE.unet        write the C sources instead\n"
    "       unetc check [options] FILE.unet         names and shapes only\n"
    "       unetc mem [--format=text|json|html|csv] [options] FILE.unet\n"
    "                                               the memory plan; nothing is compiled or run\n"
    "       unetc mem --diff [--format=text|json] [options] A B\n"
    "                                               what changed between two files or plans (JSON)\n"
    "       unetc fit --max=batch|size [--mem=SIZE] [--format=text|json] [options] FILE.unet\n"
    "                                               the largest that fits in SIZE, or in usual amounts\n"
    "       unetc onnx --weights=FILE [-o MODEL.onnx] [options] FILE.unet\n"
    "                                               the trained network for other programs\n"
    "       unetc explain CODE                      a diagnostic at length\n"
    "       unetc --runtime                         the folder of the runtime library\n"
    "\n"
    "  --mem=SIZE              budget of the arena: 8GiB, 512MiB; over it is an error (exit 3)\n"
    "  --batch=N  --size=HxW or DxHxW  -D NAME=VALUE  --seed=N\n"
    "                          use these instead of what the file says\n"
    "  --freeze=LAYERS         do not train the layers of this name, or what it stands in front of:\n"
    "                          encoder; * stands for any characters; may be given several times\n"
    "  --programs=LIST         of train,eval,predict; `predict` alone has no training code\n"
    "  --target=cpu|cuda[:sm_80|:sm_90]   the machine to compile for (cpu; cuda: sm_90, an H100; sm_80,\n"
    "                          an A100, is also right for cards of the GeForce 30 and 40 series)\n"
    "  --isa=native|portable   native: for this processor and those that have all its instructions;\n"
    "                          portable: for all of its kind; on x86-64 the program holds code for\n"
    "                          several levels of them, and takes the best when it starts\n"
    "  --precision=f32|f64|tf32|bf16|f16   bf16, f16: activations and their gradients take 16 bits, all\n"
    "                          else f32; f16 scales the loss; tf32 is for cuda; f64 needs\n"
    "                          --kernels=reference\n"
    "  --staging=f32|u8        how inputs are copied to a GPU: u8 rounds them to n / 255, which is exact\n"
    "                          for pictures of 8 bits\n"
    "  --nondeterministic      for cuda: faster convolutions whose results differ from run to run\n"
    "  --kernels=fast|reference   reference: slow, obvious, for checking\n"
    "  --conv=auto|direct|winograd|fast   how a CPU computes 3x3 convolutions: auto by Winograd's method\n"
    "                          from 16 channels and 12 columns up, winograd wherever it can, direct\n"
    "                          never, with less memory for weights; fast: as auto, with factors of\n"
    "                          bf16 where the processor multiplies these: results differ by 1 %, not\n"
    "                          by a millionth; for cuda cuDNN advises the engine\n"
    "  --micro-batches=auto|off|N   train a few samples at a time; the result is the same\n"
    "  --bands=auto|off|N      compute in about N bands of rows where possible and keep only the rows\n"
    "                          that are still needed; the result is the same, but that trained weights\n"
    "                          are rounded otherwise for cuda; on a CPU prediction then takes images\n"
    "                          of any height; auto: to fit the budget, or where it is free\n"
    "  --no-recompute          keep every tensor until its last reader; compute none again\n"
    "  --max-threads=N         threads a program may use (default 16)\n"
    "  --no-reuse              no two buffers share bytes\n"
    "  --poison                build a program that stops at the first access outside a buffer's lifetime\n"
    "  --emit=ast|graph|graph:after=PASS|plan|remat   print a stage and stop: the graph of the file, or\n"
    "                          of the programs after a pass; remat: what may be computed again\n"
    "  --color=auto|always|never   --error-format=human|json   -Werror\n"
    "  --help  --version\n"
    "\n"
    "exit codes: 0 done, 1 errors in the file (--diff: B needs more than A), 2 usage, 3 does not fit,\n"
    "4 input or output, 5 a compiler failed, 70 a bug of unetc.\n"
    "The C compiler is $CC, or cc.  For cuda: nvcc is $NVCC, or that of $CUDA_HOME or /usr/local/cuda;\n"
    "cuDNN is looked for there, too, and in $CUDNN_ROOT/lib.\n";

_Noreturn static void usage_error(const char *format, const char *word) {
    fputs("unetc: ", stderr);
    fprintf(stderr, format, word);
    fputs("\nrun `unetc --help` for the options\n", stderr);
    exit(EXIT_USAGE);
}

/* ---- values ---- */

int64_t parse_bytes(const char *text) {
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"KiB", 1024.},
                 {"MiB", 1048576.},
                 {"GiB", 1073741824.},
                 {"TiB", 1099511627776.}};
    static const char digits[] = "0123456789";
    const char *end = text + strspn(text, digits); /* no sign, hexadecimal digits or exponent */
    if (end == text)
        return -1;
    if (*end == '.')
        end += 1 + strspn(end + 1, digits);
    double value = strtod(text, NULL);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(end, units[k].unit) == 0) {
            double bytes = value * units[k].factor;
            return bytes >= 1 && bytes < 9.2e18 ? (int64_t)bytes : -1;
        }
    return -1;
}

/* An option with its value, on its way into the command. */
typedef struct {
    Pool *pool;
    Command *command;
    const char *name, *value;
} Given;

/* WORDS: what the option takes beside a number, "auto, off, or ". */
static int64_t number(const Given *g, const char *words, int64_t min, int64_t max) {
    char *end;
    errno = 0;
    long long value = strtoll(g->value, &end, 10);
    if (end == g->value || *end != '\0' || errno != 0 || value < min || value > max) {
        fprintf(stderr, "unetc: %s=%s: use %sa whole number from %lld to %lld\n", g->name, g->value, words,
                (long long)min, (long long)max);
        exit(EXIT_USAGE);
    }
    return value;
}

static int64_t integer(const Given *g, int64_t min, int64_t max) {
    return number(g, "", min, max);
}

static const char *name_of(const Given *g) {
    if (*g->value == '\0')
        usage_error("%s needs a name", g->name);
    return g->value;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The index of TEXT in a list that NULL ends; a mistake names the choices. */
static int choice_of(const char *option, const char *text, const char *const *list) {
    for (int k = 0; list[k] != NULL; k++)
        if (strcmp(text, list[k]) == 0)
            return k;
    fprintf(stderr, "unetc: %s=%s: use", option, text);
    for (int k = 0; list[k] != NULL; k++)
        fprintf(stderr, "%s %s", k == 0 ? "" : list[k + 1] == NULL ? " or" : ",", list[k]);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

static int choice(const Given *g, const char *const *list) {
    return choice_of(g->name, g->value, list);
}

/* ---- what an option does ---- */

static void take_output(const Given *g) {
    g->command->output = name_of(g);
}

static void take_weights(const Given *g) {
    g->command->weights = name_of(g);
}

static void take_folder(const Given *g) {
    g->command->folder = name_of(g);
}

static void take_format(const Given *g) {
    g->command->format = (ReportFormat)choice(g, LIST("text", "json", "csv", "html"));
}

static void take_diff(const Given *g) {
    g->command->diff = true;
}

static void take_max(const Given *g) {
    g->command->max = (FitMax)choice(g, LIST("batch", "size"));
    g->command->max_given = true;
}

static void take_mem(const Given *g) {
    if ((g->command->options.budget = parse_bytes(g->value)) < 0)
        usage_error("--mem=%s: write a size such as 8GiB, 512MiB, 64KiB, or a number of bytes", g->value);
}

static void take_batch(const Given *g) {
    g->command->lower.batch = integer(g, 1, 1 << 20);
}

static void take_freeze(const Given *g) {
    LowerOptions *lower = &g->command->lower;
    const char **list = NEW_ARRAY(g->pool, const char *, lower->nfreeze + 1);
    for (int k = 0; k < lower->nfreeze; k++)
        list[k] = lower->freeze[k];
    list[lower->nfreeze++] = name_of(g);
    lower->freeze = list;
}

/* "256x256" or "64x128x128" */
static void take_size(const Given *g) {
    const char *text = g->value;
    int64_t *size = g->command->lower.size;
    long long value[AXES];
    int n = 0, used = 0;
    if (sscanf(text, "%lldx%lldx%lld%n", &value[0], &value[1], &value[2], &used) == 3 && text[used] == '\0')
        n = 3;
    else if (sscanf(text, "%lldx%lld%n", &value[0], &value[1], &used) == 2 && text[used] == '\0')
        n = 2;
    if (n == 0)
        usage_error("--size=%s: write HEIGHTxWIDTH, such as 256x256, or DEPTHxHEIGHTxWIDTH", text);
    size[0] = 0;
    for (int k = 0; k < n; k++) {
        if (value[k] < 1 || value[k] > 1 << 24)
            usage_error("--size=%s: use numbers from 1 to 16777216", text);
        size[AXES - n + k] = value[k];
    }
}

static void take_define(const Given *g) {
    LowerOptions *lower = &g->command->lower;
    const char *equals = strchr(g->value, '=');
    if (equals == NULL || equals == g->value)
        usage_error("-D %s: write -D NAME=VALUE", g->value);
    Define *list = NEW_ARRAY(g->pool, Define, lower->ndefine + 1);
    for (int k = 0; k < lower->ndefine; k++)
        list[k] = lower->define[k];
    list[lower->ndefine++] =
        (Define){pool_copy(g->pool, g->value, (size_t)(equals - g->value)), equals + 1};
    lower->define = list;
}

static void take_seed(const Given *g) {
    g->command->lower.seed = integer(g, 0, INT64_MAX);
    g->command->lower.has_seed = true;
}

static void take_programs(const Given *g) {
    if (g->value[strspn(g->value, ",")] == '\0')
        usage_error("--programs=%s: name some of train, eval, predict, such as --programs=train,eval",
                    g->value);
    char *list = pool_copy(g->pool, g->value, strlen(g->value));
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ","))
        g->command->options.wanted[choice_of(g->name, word, LIST("train", "eval", "predict"))] = true;
    g->command->programs_given = true;
}

/* "cuda", "cuda:sm_80"; a target that has several architectures alone means the first. */
static void take_target(const Given *g) {
    Options *options = &g->command->options;
    const char **names = NULL;
    int count = 0;
    for (const Target *const *t = targets; *t != NULL; t++) {
        const char *const *architecture = (*t)->architecture;
        PUSH(g->pool, names, count, (*t)->name);
        options->target = *t;
        options->architecture = architecture == NULL ? NULL : architecture[0];
        if (strcmp(g->value, (*t)->name) == 0)
            return;
        for (; architecture != NULL && *architecture != NULL; architecture++) {
            options->architecture = *architecture;
            PUSH(g->pool, names, count, pool_text(g->pool, "%s:%s", (*t)->name, *architecture));
            if (strcmp(g->value, names[count - 1]) == 0)
                return;
        }
    }
    PUSH(g->pool, names, count, NULL);
    (void)choice(g, names);
}

static void take_isa(const Given *g) {
    g->command->options.portable = choice(g, LIST("native", "portable")) == 1;
}

static void take_precision(const Given *g) {
    static const Type stored[] = {TYPE_F32, TYPE_F64, TYPE_F32, TYPE_BF16, TYPE_F16};
    Options *options = &g->command->options;
    int k = choice(g, LIST("f32", "f64", "tf32", "bf16", "f16"));
    options->real = stored[k] == TYPE_F64 ? TYPE_F64 : TYPE_F32;
    options->stored = stored[k];
    if (options->staged != TYPE_UNORM8)
        options->staged = options->real;
    options->tf32 = k == 2;
    options->has_precision = true;
}

static void take_staging(const Given *g) {
    Options *options = &g->command->options;
    options->staged = choice(g, LIST("f32", "u8")) == 1 ? TYPE_UNORM8 : options->real;
}

static void take_nondeterministic(const Given *g) {
    g->command->options.nondeterministic = true;
}

static void take_kernels(const Given *g) {
    g->command->options.reference = choice(g, LIST("fast", "reference")) == 1;
}

static void take_conv(const Given *g) {
    g->command->options.conv = (ConvMethod)choice(g, LIST("auto", "direct", "winograd", "fast"));
}

static void take_micro_batches(const Given *g) {
    int *parts = &g->command->options.micro_batches;
    if (strcmp(g->value, "auto") == 0)
        *parts = 0;
    else
        *parts = strcmp(g->value, "off") == 0 ? 1 : (int)number(g, "auto, off, or ", 1, 1 << 20);
}

static void take_bands(const Given *g) {
    int *bands = &g->command->options.bands;
    if (strcmp(g->value, "auto") == 0)
        *bands = 0;
    else
        *bands = strcmp(g->value, "off") == 0 ? 1 : (int)number(g, "auto, off, or ", 1, 1 << 20);
}

static void take_threads(const Given *g) {
    g->command->options.max_threads = (int)integer(g, 1, UNET_MOST_THREADS);
}

static void take_no_reuse(const Given *g) {
    g->command->options.no_reuse = true;
}

static void take_no_recompute(const Given *g) {
    g->command->options.no_recompute = true;
}

static void take_poison(const Given *g) {
    g->command->options.poison = true;
}

/* A stage, or "graph:after=PASS"; which passes there are, only the pipeline knows. */
static void take_emit(const Given *g) {
    static const char after[] = "graph:after=";
    Command *c = g->command;
    if (strncmp(g->value, after, sizeof after - 1) == 0) {
        c->stage = EMIT_GRAPH;
        c->after = g->value + sizeof after - 1;
        if (*c->after == '\0')
            usage_error("--emit=%s: the name of a pass is missing, such as --emit=graph:after=autodiff",
                        g->value);
        return;
    }
    c->after = NULL;
    c->stage = (EmitStage)(1 + choice(g, LIST("ast", "graph", "plan", "remat", "graph:after=PASS")));
}

static void take_color(const Given *g) {
    g->command->color = (ColorChoice)choice(g, LIST("auto", "always", "never"));
}

static void take_error_format(const Given *g) {
    g->command->error_format = (ErrorFormat)choice(g, LIST("human", "json"));
}

static void take_werror(const Given *g) {
    g->command->warnings_are_errors = true;
}

/* ---- the table ---- */

typedef struct {
    const char *name;
    void (*take)(const Given *given);
    bool has_value;
    enum {
        ASIDE,
        PLAN,
        TRAINING
    } shapes;            /* what the option changes: neither plan nor training, the plan, what is trained */
    unsigned commands;   /* those that take it */
    const char *instead; /* what to write where another one stands; NULL: leave it out */
} OptionRow;

#define OF(command) (1u << COMMAND_##command)
enum {
    FILES = OF(COMPILE) | OF(CHECK) | OF(MEM) | OF(FIT), /* all that plan what a .unet file says */
    ALL = FILES | OF(ONNX) | OF(EXPLAIN) | OF(RUNTIME)
};

static const OptionRow option_table[] = {
    {"-o", take_output, true, ASIDE, OF(COMPILE) | OF(ONNX), "write `unetc -o PROG FILE.unet`"},
    {"--weights", take_weights, true, ASIDE, OF(ONNX),
     "it is for `unetc onnx`; programs take --weights when they run"},
    {"-S", take_folder, true, ASIDE, OF(COMPILE), "write `unetc -S DIR FILE.unet`"},
    {"--format", take_format, true, ASIDE, OF(MEM) | OF(FIT),
     "it is for `unetc mem` and `unetc fit`; --error-format=json is for diagnostics"},
    {"--diff", take_diff, false, ASIDE, OF(MEM), "write `unetc mem --diff A B`"},
    {"--max", take_max, true, ASIDE, OF(FIT), "write `unetc fit --max=batch FILE.unet`"},
    {"--mem", take_mem, true, PLAN, FILES, NULL},
    {"--batch", take_batch, true, TRAINING, FILES, NULL},
    {"--size", take_size, true, TRAINING, FILES | OF(ONNX), NULL},
    {"-D", take_define, true, TRAINING, FILES | OF(ONNX), NULL},
    {"--freeze", take_freeze, true, TRAINING, FILES, NULL},
    {"--seed", take_seed, true, TRAINING, FILES, NULL},
    {"--programs", take_programs, true, PLAN, FILES, NULL},
    {"--target", take_target, true, PLAN, FILES, NULL},
    {"--isa", take_isa, true, PLAN, FILES, NULL},
    {"--precision", take_precision, true, PLAN, FILES, NULL},
    {"--staging", take_staging, true, PLAN, FILES, NULL},
    {"--nondeterministic", take_nondeterministic, false, PLAN, FILES, NULL},
    {"--kernels", take_kernels, true, PLAN, FILES, NULL},
    {"--conv", take_conv, true, PLAN, FILES, NULL},
    {"--micro-batches", take_micro_batches, true, PLAN, FILES, NULL},
    {"--bands", take_bands, true, PLAN, FILES, NULL},
    {"--max-threads", take_threads, true, PLAN, FILES, NULL},
    {"--no-reuse", take_no_reuse, false, PLAN, FILES, NULL},
    {"--no-recompute", take_no_recompute, false, PLAN, FILES, NULL},
    {"--poison", take_poison, false, PLAN, FILES, NULL},
    {"--emit", take_emit, true, ASIDE, OF(COMPILE), "write `unetc --emit=graph FILE.unet`"},
    {"--color", take_color, true, ASIDE, ALL, NULL},
    {"--error-format", take_error_format, true, ASIDE, ALL, NULL},
    {"-Werror", take_werror, false, ASIDE, ALL, NULL},
};
enum { OPTIONS = sizeof option_table / sizeof *option_table };

/* The row of the option in ARGUMENT, its value after `=` or glued to a single letter, or NULL. */
static const OptionRow *find_option(const char *argument, const char **value) {
    *value = NULL;
    for (int k = 0; k < OPTIONS; k++) {
        const OptionRow *row = &option_table[k];
        size_t n = strlen(row->name);
        if (strcmp(argument, row->name) == 0)
            return row;
        if (strncmp(argument, row->name, n) != 0 || !row->has_value)
            continue;
        if (argument[n] == '=') {
            *value = argument + n + 1;
            return row;
        }
        if (row->name[1] != '-' && n == 2) {
            *value = argument + n;
            return row;
        }
    }
    return NULL;
}

/* ---- commands ---- */

typedef struct {
    CommandKind kind;
    const char *word, *help; /* what `unetc WORD --help` prints */
} CommandRow;

static const CommandRow command_table[] = {
    {COMMAND_CHECK, "check",
     "usage: unetc check [options] FILE.unet\n"
     "\n"
     "Reads the file and prints its inputs and outputs with their shapes, the number of its\n"
     "parameters, and which sizes of the input it takes.  Nothing is planned.\n"
     "\n"
     "  --error-format=json     diagnostics for editors, one line of JSON each\n"
     "  -Werror                 warnings are errors\n"
     "\n"
     "exit codes: 0 the file is right, 1 it has errors.\n"},
    {COMMAND_MEM, "mem",
     "usage: unetc mem [options] FILE.unet\n"
     "       unetc mem --diff [options] A B\n"
     "\n"
     "Plans the memory of the programs and prints how many bytes they need and for what.  Nothing\n"
     "is compiled or run.  --diff prints what changed from A to B, which are .unet files or plans\n"
     "as --format=json prints them.\n"
     "\n"
     "  --format=text|json|html|csv   text for reading, json for tools, html: a map of the memory\n"
     "                          over time, csv: the buffers; with --diff text or json\n"
     "  --mem=SIZE              budget of the arena: 8GiB, 512MiB\n"
     "\n"
     "exit codes: 0 done, 1 errors in the file (--diff: B needs more than A), 3 does not fit.\n"},
    {COMMAND_FIT, "fit",
     "usage: unetc fit --max=batch|size [options] FILE.unet\n"
     "\n"
     "Finds the largest batch, or the largest size of the input, that fits a budget.\n"
     "\n"
     "  --max=batch|size        what to enlarge; required\n"
     "  --mem=SIZE              budget of the arena; without it usual amounts of\n"
     "                          memory are tried\n"
     "  --format=text|json\n"
     "\n"
     "exit codes: 0 done, 1 errors in the file, 3 nothing fits.\n"},
    {COMMAND_ONNX, "onnx",
     "usage: unetc onnx --weights=FILE [-o MODEL.onnx] [options] FILE.unet\n"
     "\n"
     "Writes the network, as it predicts, and its trained weights to an ONNX file (opset 17), for\n"
     "ONNX Runtime and all that reads such files.  It takes batches of any length, of the size in the\n"
     "file; pictures are f32, channels first, 0 to 1.\n"
     "\n"
     "  --weights=FILE          weights or a checkpoint, as `train` writes them; required\n"
     "  -o MODEL.onnx           the file to write (the name of FILE.unet)\n"
     "  --size=HxW or DxHxW     another size of the input\n"
     "  -D NAME=VALUE           another value of a `let`: as when the weights were trained\n"
     "\n"
     "exit codes: 0 done, 1 errors in the file, 4 weights that do not fit the network.\n"},
    {COMMAND_EXPLAIN, "explain",
     "usage: unetc explain CODE\n"
     "\n"
     "Prints what the diagnostic CODE means, at length: `unetc explain U0401`.\n"},
};

/* The command that WORD is, or NULL. */
static const CommandRow *find_command(const char *word) {
    for (size_t k = 0; k < sizeof command_table / sizeof *command_table; k++)
        if (strcmp(word, command_table[k].word) == 0)
            return &command_table[k];
    return NULL;
}

/* The help of the command that was named before, or that of unetc. */
_Noreturn static void print_help(CommandKind kind) {
    for (size_t k = 0; k < sizeof command_table / sizeof *command_table; k++)
        if (command_table[k].kind == kind) {
            fputs(command_table[k].help, stdout);
            fputs("`unetc --help` lists the options that all commands take.\n", stdout);
            exit(EXIT_DONE);
        }
    fputs(usage, stdout);
    exit(EXIT_DONE);
}

/* The name of the command that stands in C. */
static const char *command_name(Pool *pool, const Command *c) {
    for (size_t k = 0; k < sizeof command_table / sizeof *command_table; k++)
        if (command_table[k].kind == c->kind)
            return pool_text(pool, "unetc %s", command_table[k].word);
    return c->kind == COMMAND_RUNTIME ? "unetc --runtime" : "unetc FILE.unet";
}

/* An option that would change nothing is a mistake. */
static void check_taken(Pool *pool, const Command *c, const bool given[OPTIONS]) {
    for (int k = 0; k < OPTIONS; k++) {
        const OptionRow *row = &option_table[k];
        if (given[k] && (row->commands & 1u << c->kind) == 0)
            usage_error("%s", pool_text(pool, "`%s` does not take %s: %s", command_name(pool, c), row->name,
                                        row->instead != NULL ? row->instead : "leave it out"));
    }
}

/* Options of which one leaves nothing to the other. */
static void check_together(const Command *c) {
    if (c->folder != NULL && c->output != NULL)
        usage_error("%s", "-S writes sources, and -o names a program: leave one out");
    if (c->stage != EMIT_ALL && (c->folder != NULL || c->output != NULL))
        usage_error("--emit prints and stops: leave out %s", c->folder != NULL ? "-S" : "-o");
    if (c->stage == EMIT_REMAT && c->options.no_recompute)
        usage_error("%s", "--emit=remat prints what may be computed again: leave out --no-recompute");
    if (c->kind == COMMAND_FIT && c->max_given && c->max == FIT_BATCH && c->lower.batch > 0)
        usage_error("%s", "`unetc fit --max=batch` looks for the batch itself: leave out --batch");
}

static void check_reports(const Command *c) {
    bool two = c->format == REPORT_TEXT || c->format == REPORT_JSON;
    if (c->diff && c->other == NULL)
        usage_error("%s", "--diff compares two files or plans: write `unetc mem --diff A B`");
    if (c->diff && !two)
        usage_error("%s", "--diff prints text or json: use --format=text or --format=json");
    if (c->kind != COMMAND_FIT)
        return;
    if (!c->max_given)
        usage_error("%s", "`unetc fit` needs --max=batch or --max=size");
    if (!two)
        usage_error("%s", "`unetc fit` prints text or json: use --format=text or --format=json");
}

static void check_target(const Command *c) {
    const bool builds = c->kind == COMMAND_COMPILE && c->folder == NULL;
    const char *why = c->options.target->refuses(&c->options, builds);
    if (why != NULL)
        usage_error("%s", why);
}

static void check_onnx(const Command *c) {
    if (c->kind == COMMAND_ONNX && c->weights == NULL)
        usage_error("%s", "`unetc onnx` needs the trained weights: write --weights=FILE.safetensors");
}

static void finish(Pool *pool, Command *c, const bool given[OPTIONS]) {
    check_taken(pool, c, given);
    check_together(c);
    check_reports(c);
    check_onnx(c);
    if (c->kind == COMMAND_RUNTIME && c->file != NULL)
        usage_error("`unetc --runtime` takes no file: remove `%s`", c->file);
    if (c->kind != COMMAND_RUNTIME && c->file == NULL)
        usage_error("%s", c->kind == COMMAND_EXPLAIN
                              ? "no code given: write `unetc explain U0401`, for example"
                              : "no .unet file given: write `unetc FILE.unet`");
    if (!c->programs_given)
        for (int k = 0; k < PROGRAMS; k++)
            c->options.wanted[k] = true;
    check_target(c);
    c->lower.path = c->file;
}

/* The options so far and one more, as one would type them. */
static const char *with_option(Pool *pool, const char *options, const OptionRow *row, const char *value) {
    const char *join = !row->has_value ? "" : row->take == take_define ? " " : "=";
    return pool_text(pool, "%s%s%s%s%s", options, *options != '\0' ? " " : "", row->name, join, value);
}

static void take_runtime(Command *c) {
    if (c->kind != COMMAND_COMPILE)
        usage_error("%s", "--runtime is a command of its own: write `unetc --runtime`");
    c->kind = COMMAND_RUNTIME;
}

/* A word that looks like no file, and is none. */
static bool is_no_file(const char *word) {
    return strpbrk(word, "./") == NULL && access(word, F_OK) != 0;
}

/* What is no option: a command, or what it is about. */
static void take_word(Command *c, const char *word, bool is_file) {
    const bool first = c->kind == COMMAND_COMPILE && c->file == NULL && !is_file;
    if (first && find_command(word) != NULL)
        c->kind = find_command(word)->kind;
    else if (first && is_no_file(word))
        usage_error("there is no command `%s`, and no file of this name: write `unetc --help`, or "
                    "`unetc FILE.unet`",
                    word);
    else if (c->file == NULL)
        c->file = word;
    else if (c->diff && c->other == NULL)
        c->other = word;
    else
        usage_error(c->kind == COMMAND_EXPLAIN ? "only one code at a time: remove `%s`"
                                               : "only one file at a time: remove `%s`",
                    word);
}

Command command_read(Pool *pool, int argc, char **argv) {
    Command c = {.options = {.target = targets[0], .max_threads = 16, .command = "", .training = ""}};
    bool only_files = false, given[OPTIONS] = {false};
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        const OptionRow *row = only_files ? NULL : find_option(argument, &value);
        if (row != NULL) {
            if (!row->has_value)
                value = "";
            else if (value == NULL && (value = argv[++i]) == NULL)
                usage_error("%s needs a value", row->name);
            row->take(&(Given){pool, &c, row->name, value});
            given[row - option_table] = true;
            if (row->shapes != ASIDE)
                c.options.command = with_option(pool, c.options.command, row, value);
            if (row->shapes == TRAINING)
                c.options.training = with_option(pool, c.options.training, row, value);
        } else if (!only_files && (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)) {
            print_help(c.kind);
        } else if (!only_files && strcmp(argument, "--version") == 0) {
            puts("unetc " UNETC_VERSION);
            exit(EXIT_DONE);
        } else if (!only_files && strcmp(argument, "--runtime") == 0) {
            take_runtime(&c);
        } else if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
        } else if (!only_files && argument[0] == '-' && argument[1] != '\0') {
            usage_error("there is no option `%s`", argument);
        } else {
            take_word(&c, argument, only_files);
        }
    }
    finish(pool, &c, given);
    return c;
}
