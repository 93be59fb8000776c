/* command.c - the command line of unetc, as a table of options. */
#include "ir/target.h"
#include "command.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    "       unetc explain CODE                      a diagnostic at length\n"
    "       unetc --runtime                         the folder of the runtime library\n"
    "\n"
    "  --mem=SIZE              budget of the arena: 8GiB, 512MiB; over it is an error (exit 3)\n"
    "  --batch=N  --size=HxW or DxHxW  -D NAME=VALUE  --seed=N\n"
    "                          use these instead of what the file says\n"
    "  --programs=LIST         of train,eval,predict; `predict` alone has no training code\n"
    "  --target=cpu|cuda[:sm_80|:sm_90]   the machine to compile for (cpu; cuda: sm_90, an H100; sm_80,\n"
    "                          an A100, is also right for cards of the GeForce 30 and 40 series)\n"
    "  --isa=native            use the instructions of this processor (the only choice so far)\n"
    "  --precision=f32|f64|tf32|bf16|f16   bf16, f16: activations and their gradients take 16 bits, all\n"
    "                          else f32; f16 scales the loss; tf32 is for cuda; f64 needs\n"
    "                          --kernels=reference\n"
    "  --staging=f32|u8        how inputs are copied to a GPU: u8 rounds them to n / 255, which is exact\n"
    "                          for pictures of 8 bits\n"
    "  --nondeterministic      for cuda: faster convolutions whose results differ from run to run\n"
    "  --kernels=fast|reference   reference: slow, obvious, for checking\n"
    "  --conv=auto|direct      how convolutions are computed\n"
    "  --micro-batches=auto|off|N   train a few samples at a time; the result is the same\n"
    "  --bands=off|N           compute in about N bands of rows where possible; the result is the same\n"
    "  --no-recompute          keep every tensor until its last reader; compute none again\n"
    "  --max-threads=N         threads a program may use (default 64)\n"
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
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno != 0 || !(value > 0) || strchr("0123456789", text[0]) == NULL)
        return -1;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(end, units[k].unit) == 0)
            return value * units[k].factor < 9.2e18 ? (int64_t)(value * units[k].factor) : -1;
    return -1;
}

static int64_t integer(const char *option, const char *text, int64_t min, int64_t max) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < min || value > max) {
        fprintf(stderr, "unetc: %s=%s: use a whole number from %lld to %lld\n", option, text,
                (long long)min, (long long)max);
        exit(EXIT_USAGE);
    }
    return value;
}

/* The index of TEXT in a list that NULL ends; a mistake names the choices. */
static int choice(const char *option, const char *text, const char *const *list) {
    for (int k = 0; list[k] != NULL; k++)
        if (strcmp(text, list[k]) == 0)
            return k;
    fprintf(stderr, "unetc: %s=%s: use", option, text);
    for (int k = 0; list[k] != NULL; k++)
        fprintf(stderr, "%s %s", k == 0 ? "" : list[k + 1] == NULL ? " or" : ",", list[k]);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

/* "256x256" or "64x128x128" */
static void read_size(const char *text, int64_t size[AXES]) {
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

static void read_programs(Pool *pool, const char *text, Options *plan) {
    static const char *const names[] = {"train", "eval", "predict", NULL};
    char *list = pool_copy(pool, text, strlen(text));
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ","))
        plan->wanted[choice("--programs", word, names)] = true;
}

static void read_define(Pool *pool, const char *text, Command *c) {
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        usage_error("-D %s: write -D NAME=VALUE", text);
    Define *list = NEW_ARRAY(pool, Define, c->lower.ndefine + 1);
    for (int k = 0; k < c->lower.ndefine; k++)
        list[k] = c->lower.define[k];
    list[c->lower.ndefine++] = (Define){pool_copy(pool, text, (size_t)(equals - text)), equals + 1};
    c->lower.define = list;
}

/* ---- the table ---- */

typedef enum {
    O_OUTPUT,
    O_SOURCES,
    O_FORMAT,
    O_DIFF,
    O_MAX,
    O_MEM,
    O_BATCH,
    O_SIZE,
    O_DEFINE,
    O_SEED,
    O_PROGRAMS,
    O_TARGET,
    O_ISA,
    O_PRECISION,
    O_STAGING,
    O_NONDETERMINISTIC,
    O_KERNELS,
    O_CONV,
    O_MICRO,
    O_BANDS,
    O_THREADS,
    O_NO_REUSE,
    O_NO_RECOMPUTE,
    O_POISON,
    O_EMIT,
    O_COLOR,
    O_ERRORS,
    O_WERROR
} OptionId;

typedef struct {
    const char *name;
    OptionId id;
    bool has_value;
    enum {
        ASIDE,
        PLAN,
        TRAINING
    } shapes; /* what the option changes: neither plan nor training, the plan, what is trained */
} OptionRow;

static const OptionRow option_table[] = {
    {"-o", O_OUTPUT, true, ASIDE},
    {"-S", O_SOURCES, true, ASIDE},
    {"--format", O_FORMAT, true, ASIDE},
    {"--diff", O_DIFF, false, ASIDE},
    {"--max", O_MAX, true, ASIDE},
    {"--mem", O_MEM, true, PLAN},
    {"--batch", O_BATCH, true, TRAINING},
    {"--size", O_SIZE, true, TRAINING},
    {"-D", O_DEFINE, true, TRAINING},
    {"--seed", O_SEED, true, TRAINING},
    {"--programs", O_PROGRAMS, true, PLAN},
    {"--target", O_TARGET, true, PLAN},
    {"--isa", O_ISA, true, PLAN},
    {"--precision", O_PRECISION, true, PLAN},
    {"--staging", O_STAGING, true, PLAN},
    {"--nondeterministic", O_NONDETERMINISTIC, false, PLAN},
    {"--kernels", O_KERNELS, true, PLAN},
    {"--conv", O_CONV, true, PLAN},
    {"--micro-batches", O_MICRO, true, PLAN},
    {"--bands", O_BANDS, true, PLAN},
    {"--max-threads", O_THREADS, true, PLAN},
    {"--no-reuse", O_NO_REUSE, false, PLAN},
    {"--no-recompute", O_NO_RECOMPUTE, false, PLAN},
    {"--poison", O_POISON, false, PLAN},
    {"--emit", O_EMIT, true, ASIDE},
    {"--color", O_COLOR, true, ASIDE},
    {"--error-format", O_ERRORS, true, ASIDE},
    {"-Werror", O_WERROR, false, ASIDE},
};

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A stage, or "graph:after=PASS"; which passes there are, only the pipeline knows. */
static void read_stage(const char *option, const char *value, Command *c) {
    static const char after[] = "graph:after=";
    if (strncmp(value, after, sizeof after - 1) == 0) {
        c->stage = EMIT_GRAPH;
        c->after = value + sizeof after - 1;
        if (*c->after == '\0')
            usage_error("--emit=%s: the name of a pass is missing, such as --emit=graph:after=autodiff",
                        value);
        return;
    }
    c->after = NULL;
    c->stage =
        (EmitStage)(1 + choice(option, value, LIST("ast", "graph", "plan", "remat", "graph:after=PASS")));
}

/* Options that do not change the plan. */
static void apply_aside(Command *c, const OptionRow *row, const char *value) {
    switch (row->id) {
    case O_OUTPUT:
        c->output = value;
        break;
    case O_SOURCES:
        c->folder = value;
        break;
    case O_FORMAT:
        c->format = (ReportFormat)choice(row->name, value, LIST("text", "json", "csv", "html"));
        break;
    case O_DIFF:
        c->diff = true;
        break;
    case O_MAX:
        c->max = (FitMax)choice(row->name, value, LIST("batch", "size"));
        c->max_given = true;
        break;
    case O_EMIT:
        read_stage(row->name, value, c);
        break;
    case O_COLOR:
        c->color = (ColorChoice)choice(row->name, value, LIST("auto", "always", "never"));
        break;
    case O_ERRORS:
        c->error_format = (ErrorFormat)choice(row->name, value, LIST("human", "json"));
        break;
    case O_WERROR:
        c->warnings_are_errors = true;
        break;
    default:
        break;
    }
}

/* "cuda", "cuda:sm_80"; a target that has several architectures alone means the first. */
static void read_target(Pool *pool, const char *option, const char *value, Options *options) {
    const char **names = NULL;
    int count = 0;
    for (const Target *const *t = targets; *t != NULL; t++) {
        const char *const *architecture = (*t)->architecture;
        PUSH(pool, names, count, (*t)->name);
        options->target = *t;
        options->architecture = architecture == NULL ? NULL : architecture[0];
        if (strcmp(value, (*t)->name) == 0)
            return;
        for (; architecture != NULL && *architecture != NULL; architecture++) {
            options->architecture = *architecture;
            PUSH(pool, names, count, pool_text(pool, "%s:%s", (*t)->name, *architecture));
            if (strcmp(value, names[count - 1]) == 0)
                return;
        }
    }
    PUSH(pool, names, count, NULL);
    (void)choice(option, value, names);
}

static void read_precision(const char *option, const char *value, Options *plan) {
    static const Type stored[] = {TYPE_F32, TYPE_F64, TYPE_F32, TYPE_BF16, TYPE_F16};
    int k = choice(option, value, LIST("f32", "f64", "tf32", "bf16", "f16"));
    plan->real = stored[k] == TYPE_F64 ? TYPE_F64 : TYPE_F32;
    plan->stored = stored[k];
    if (plan->staged != TYPE_UNORM8)
        plan->staged = plan->real;
    plan->tf32 = k == 2;
    plan->has_precision = true;
}

static void apply(Pool *pool, Command *c, const OptionRow *row, const char *value) {
    switch (row->id) {
    case O_MEM:
        if ((c->options.budget = parse_bytes(value)) < 0)
            usage_error("--mem=%s: write a size such as 8GiB, 512MiB, 64KiB, or a number of bytes", value);
        break;
    case O_BATCH:
        c->lower.batch = integer(row->name, value, 1, 1 << 20);
        break;
    case O_SIZE:
        read_size(value, c->lower.size);
        break;
    case O_DEFINE:
        read_define(pool, value, c);
        break;
    case O_SEED:
        c->lower.seed = integer(row->name, value, 0, INT64_MAX);
        c->lower.has_seed = true;
        break;
    case O_PROGRAMS:
        read_programs(pool, value, &c->options);
        c->programs_given = true;
        break;
    case O_TARGET:
        read_target(pool, row->name, value, &c->options);
        break;
    case O_ISA:
        (void)choice(row->name, value, LIST("native"));
        break;
    case O_PRECISION:
        read_precision(row->name, value, &c->options);
        break;
    case O_STAGING:
        c->options.staged =
            choice(row->name, value, LIST("f32", "u8")) == 1 ? TYPE_UNORM8 : c->options.real;
        break;
    case O_NONDETERMINISTIC:
        c->options.nondeterministic = true;
        break;
    case O_KERNELS:
        c->options.reference = choice(row->name, value, LIST("fast", "reference")) == 1;
        break;
    case O_CONV:
        (void)choice(row->name, value, LIST("auto", "direct"));
        break;
    case O_MICRO:
        c->options.micro_batches = strcmp(value, "auto") == 0  ? 0
                                   : strcmp(value, "off") == 0 ? 1
                                                               : (int)integer(row->name, value, 1, 1 << 20);
        break;
    case O_BANDS:
        c->options.bands = strcmp(value, "off") == 0 ? 0 : (int)integer(row->name, value, 1, 1 << 20);
        break;
    case O_THREADS:
        c->options.max_threads = (int)integer(row->name, value, 1, 1024);
        break;
    case O_NO_REUSE:
        c->options.no_reuse = true;
        break;
    case O_NO_RECOMPUTE:
        c->options.no_recompute = true;
        break;
    case O_POISON:
        c->options.poison = true;
        break;
    default:
        apply_aside(c, row, value);
    }
}

/* The row of the option in ARGUMENT, its value after `=` or glued to a single letter, or NULL. */
static const OptionRow *find_option(const char *argument, const char **value) {
    *value = NULL;
    for (size_t k = 0; k < sizeof option_table / sizeof *option_table; k++) {
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
     "  --mem=SIZE              budget of the arena, at most 64TiB; without it usual amounts of\n"
     "                          memory are tried\n"
     "  --format=text|json\n"
     "\n"
     "exit codes: 0 done, 1 errors in the file, 3 nothing fits.\n"},
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

static void check_reports(const Command *c) {
    bool two = c->format == REPORT_TEXT || c->format == REPORT_JSON;
    if (c->diff && (c->kind != COMMAND_MEM || c->other == NULL))
        usage_error("%s", "--diff compares two files or plans: write `unetc mem --diff A B`");
    if (c->diff && !two)
        usage_error("%s", "--diff prints text or json: use --format=text or --format=json");
    if (c->kind != COMMAND_FIT)
        return;
    if (!c->max_given)
        usage_error("%s", "`unetc fit` needs --max=batch or --max=size");
    if (!two)
        usage_error("%s", "`unetc fit` prints text or json: use --format=text or --format=json");
    if (c->options.budget > FIT_MAX_BUDGET)
        usage_error("%s", "`unetc fit` takes a budget of at most 64TiB");
}

static void check_target(const Command *c) {
    const bool builds = c->kind == COMMAND_COMPILE && c->folder == NULL;
    const char *why = c->options.target->refuses(&c->options, builds);
    if (why != NULL)
        usage_error("%s", why);
}

static void finish(Command *c) {
    check_reports(c);
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
    const char *join = !row->has_value ? "" : row->id == O_DEFINE ? " " : "=";
    return pool_text(pool, "%s%s%s%s%s", options, *options != '\0' ? " " : "", row->name, join, value);
}

Command command_read(Pool *pool, int argc, char **argv) {
    Command c = {.options = {.target = targets[0], .max_threads = 64, .command = "", .training = ""}};
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        const OptionRow *row = only_files ? NULL : find_option(argument, &value);
        if (row != NULL) {
            if (!row->has_value)
                value = "";
            else if (value == NULL && (value = argv[++i]) == NULL)
                usage_error("%s needs a value", row->name);
            apply(pool, &c, row, value);
            if (row->shapes != ASIDE)
                c.options.command = with_option(pool, c.options.command, row, value);
            if (row->shapes == TRAINING)
                c.options.training = with_option(pool, c.options.training, row, value);
        } else if (!only_files && (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)) {
            print_help(c.kind);
        } else if (!only_files && strcmp(argument, "--version") == 0) {
            puts("unetc 0.1");
            exit(EXIT_DONE);
        } else if (!only_files && strcmp(argument, "--runtime") == 0) {
            c.kind = COMMAND_RUNTIME;
        } else if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
        } else if (!only_files && argument[0] == '-' && argument[1] != '\0') {
            usage_error("there is no option `%s`", argument);
        } else if (c.kind == COMMAND_COMPILE && c.file == NULL && !only_files &&
                   find_command(argument) != NULL) {
            c.kind = find_command(argument)->kind;
        } else if (c.file != NULL && c.diff && c.other == NULL) {
            c.other = argument;
        } else if (c.file != NULL) {
            usage_error("only one file at a time: remove `%s`", argument);
        } else {
            c.file = argument;
        }
    }
    finish(&c);
    return c;
}
