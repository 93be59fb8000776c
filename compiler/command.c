/* command.c - the command line of unetc, as a table of options. */
#include "command.h"
#include "cudnn.h"
#include "text.h"

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
    "                                               the largest that fits; without --mem for usual cards\n"
    "       unetc explain CODE                      a diagnostic at length\n"
    "       unetc --runtime                         the folder of the runtime library\n"
    "\n"
    "  --mem=SIZE              budget of the arena: 8GiB, 512MiB; over it is an error (exit 3)\n"
    "  --batch=N  --size=HxW or DxHxW  -D NAME=VALUE  --seed=N\n"
    "                          replace what the file says\n"
    "  --programs=LIST         of train,eval,predict; `predict` alone has no training code\n"
    "  --target=cpu|cuda[:sm_80|:sm_90]   the machine to compile for (cpu; cuda: sm_90, an H100; sm_80,\n"
    "                          an A100, is also right for cards of the GeForce 30 and 40 series)\n"
    "  --isa=native            this processor's instructions (needs no choice yet)\n"
    "  --precision=f32|f64|tf32|bf16|f16   bf16, f16: activations and their gradients take 16 bits, all\n"
    "                          else f32; f16 scales the loss; tf32 is for cuda; f64 needs\n"
    "                          --kernels=reference\n"
    "  --staging=f32|u8        how inputs come to a GPU: u8 rounds them to 255ths, and is right for\n"
    "                          pictures of 8 bits\n"
    "  --nondeterministic      for cuda: convolutions may be faster, and results differ from run to run\n"
    "  --kernels=fast|reference   reference: slow, obvious, for checking\n"
    "  --conv=auto|direct      how convolutions are computed\n"
    "  --micro-batches=auto|off|N   train a few samples at a time; the result is the same\n"
    "  --no-recompute          keep every tensor that is needed again\n"
    "  --max-threads=N         threads a program may use (default 64)\n"
    "  --no-reuse              every buffer keeps its bytes for itself\n"
    "  --poison                a program that stops at the first access outside a buffer's life\n"
    "  --emit=ast|graph|plan|remat   print a stage and stop; remat: what may be computed again\n"
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

static int64_t whole(const char *option, const char *text, int64_t least, int64_t most) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        fprintf(stderr, "unetc: %s=%s: a whole number from %lld to %lld is needed\n", option, text,
                (long long)least, (long long)most);
        exit(EXIT_USAGE);
    }
    return value;
}

/* The index of TEXT in a list that NULL ends; a mistake names the choices. */
static int choice(const char *option, const char *text, const char *const *list) {
    for (int k = 0; list[k] != NULL; k++)
        if (strcmp(text, list[k]) == 0)
            return k;
    fprintf(stderr, "unetc: %s=%s: one of", option, text);
    for (int k = 0; list[k] != NULL; k++)
        fprintf(stderr, "%s %s", k > 0 ? "," : "", list[k]);
    fputs(" is needed\n", stderr);
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
        usage_error("--size=%s: a size is HEIGHTxWIDTH, such as 256x256, or DEPTHxHEIGHTxWIDTH", text);
    size[0] = 0;
    for (int k = 0; k < n; k++) {
        if (value[k] < 1 || value[k] > 1 << 24)
            usage_error("--size=%s: each number is from 1 to 16777216", text);
        size[AXES - n + k] = value[k];
    }
}

static void read_programs(Pool *pool, const char *text, PlanOptions *plan) {
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
    } shapes; /* what the option has a say in: neither, the plan, what is trained */
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
    {"--max-threads", O_THREADS, true, PLAN},
    {"--no-reuse", O_NO_REUSE, false, PLAN},
    {"--no-recompute", O_NO_RECOMPUTE, false, PLAN},
    {"--poison", O_POISON, false, PLAN},
    {"--emit", O_EMIT, true, ASIDE},
    {"--color", O_COLOR, true, ASIDE},
    {"--error-format", O_ERRORS, true, ASIDE},
    {"-Werror", O_WERROR, false, ASIDE},
};

static void one_of(const char *option, const char *value, const char *const *list) {
    (void)choice(option, value, list);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* What has no say in the plan. */
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
        c->stage = (EmitStage)(1 + choice(row->name, value, LIST("ast", "graph", "plan", "remat")));
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

static void read_target(const char *option, const char *value, PlanOptions *plan) {
    static const char *const architecture[] = {NULL, "sm_90", "sm_80", "sm_90"};
    int k = choice(option, value, LIST("cpu", "cuda", "cuda:sm_80", "cuda:sm_90"));
    plan->target = k == 0 ? &target_cpu : &target_cuda;
    plan->architecture = architecture[k];
}

static void read_precision(const char *option, const char *value, PlanOptions *plan) {
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
        if ((c->plan.budget = parse_bytes(value)) < 0)
            usage_error("--mem=%s: a size is 8GiB, 512MiB, 64KiB or a number of bytes", value);
        break;
    case O_BATCH:
        c->lower.batch = whole(row->name, value, 1, 1 << 20);
        break;
    case O_SIZE:
        read_size(value, c->lower.size);
        break;
    case O_DEFINE:
        read_define(pool, value, c);
        break;
    case O_SEED:
        c->lower.seed = whole(row->name, value, 0, INT64_MAX);
        c->lower.has_seed = true;
        break;
    case O_PROGRAMS:
        read_programs(pool, value, &c->plan);
        c->programs_given = true;
        break;
    case O_TARGET:
        read_target(row->name, value, &c->plan);
        break;
    case O_ISA:
        one_of(row->name, value, LIST("native"));
        break;
    case O_PRECISION:
        read_precision(row->name, value, &c->plan);
        break;
    case O_STAGING:
        c->plan.staged = choice(row->name, value, LIST("f32", "u8")) == 1 ? TYPE_UNORM8 : c->plan.real;
        break;
    case O_NONDETERMINISTIC:
        c->plan.nondeterministic = true;
        break;
    case O_KERNELS:
        c->plan.reference = choice(row->name, value, LIST("fast", "reference")) == 1;
        break;
    case O_CONV:
        one_of(row->name, value, LIST("auto", "direct"));
        break;
    case O_MICRO:
        c->plan.micro_batches = strcmp(value, "auto") == 0  ? 0
                                : strcmp(value, "off") == 0 ? 1
                                                            : (int)whole(row->name, value, 1, 1 << 20);
        break;
    case O_THREADS:
        c->plan.max_threads = (int)whole(row->name, value, 1, 1024);
        break;
    case O_NO_REUSE:
        c->plan.no_reuse = true;
        break;
    case O_NO_RECOMPUTE:
        c->plan.no_recompute = true;
        break;
    case O_POISON:
        c->plan.poison = true;
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

static CommandKind command_word(const char *word) {
    static const char *const names[] = {"check", "mem", "fit", "explain"};
    static const CommandKind kinds[] = {COMMAND_CHECK, COMMAND_MEM, COMMAND_FIT, COMMAND_EXPLAIN};
    for (int k = 0; k < 4; k++)
        if (strcmp(word, names[k]) == 0)
            return kinds[k];
    return COMMAND_COMPILE;
}

static void check_reports(const Command *c) {
    bool two = c->format == REPORT_TEXT || c->format == REPORT_JSON;
    if (c->diff && (c->kind != COMMAND_MEM || c->other == NULL))
        usage_error("%s", "two files or plans are compared by `unetc mem --diff A B`");
    if (c->diff && !two)
        usage_error("%s", "--diff prints --format=text or json");
    if (c->kind != COMMAND_FIT)
        return;
    if (!c->max_given)
        usage_error("%s", "what is to be as large as can be? --max=batch or --max=size");
    if (!two)
        usage_error("%s", "`unetc fit` prints --format=text or json");
    if (c->plan.budget > FIT_MOST_BUDGET)
        usage_error("%s", "`unetc fit` takes a budget of at most 64TiB");
}

/* What one target has and the other has not. */
static void check_target(const Command *c) {
    const PlanOptions *plan = &c->plan;
    if (plan->target == &target_cuda && plan->real == TYPE_F64)
        usage_error("%s", "--precision=f64 is for --target=cpu with --kernels=reference");
    if (plan->real == TYPE_F64 && !plan->reference)
        usage_error("%s", "--precision=f64 needs --kernels=reference: fast kernels compute in f32");
    if (plan->target == &target_cpu && plan->tf32)
        usage_error("%s", "--precision=tf32 is for --target=cuda");
    if (plan->target == &target_cpu && plan->staged == TYPE_UNORM8)
        usage_error("%s",
                    "--staging=u8 is for --target=cuda: here, the loader's batches are read in place");
    if (plan->target == &target_cpu && plan->nondeterministic)
        usage_error("%s", "--nondeterministic is for --target=cuda: here, every run gives the same bits");
    if (plan->target == &target_cuda && plan->reference)
        usage_error("%s", "--kernels=reference is for --target=cpu");
    if (plan->target == &target_cuda && plan->poison && c->kind == COMMAND_COMPILE && c->folder == NULL)
        usage_error("%s",
                    "--poison for --target=cuda makes sources (-S DIR) that tests run on this processor");
}

static void finish(Pool *pool, Command *c) {
    check_reports(c);
    if (c->kind != COMMAND_RUNTIME && c->file == NULL)
        usage_error("%s", c->kind == COMMAND_EXPLAIN ? "which code? such as `unetc explain U0401`"
                                                     : "no .unet file given");
    if (!c->programs_given)
        for (int k = 0; k < PROGRAMS; k++)
            c->plan.wanted[k] = true;
    check_target(c);
    if (c->plan.target == &target_cuda)
        c->plan.cudnn = cudnn_open(pool, c->plan.architecture);
    c->lower.path = c->file;
}

/* The options so far and one more, as one would type them. */
static const char *with_option(Pool *pool, const char *options, const OptionRow *row, const char *value) {
    const char *join = !row->has_value ? "" : row->id == O_DEFINE ? " " : "=";
    return pool_text(pool, "%s%s%s%s%s", options, *options != '\0' ? " " : "", row->name, join, value);
}

Command command_read(Pool *pool, int argc, char **argv) {
    Command c = {.plan = {.target = &target_cpu, .max_threads = 64, .command = "", .training = ""}};
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
                c.plan.command = with_option(pool, c.plan.command, row, value);
            if (row->shapes == TRAINING)
                c.plan.training = with_option(pool, c.plan.training, row, value);
        } else if (!only_files && (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)) {
            fputs(usage, stdout);
            exit(EXIT_DONE);
        } else if (!only_files && strcmp(argument, "--version") == 0) {
            puts("unetc 0.1");
            exit(EXIT_DONE);
        } else if (!only_files && strcmp(argument, "--runtime") == 0) {
            c.kind = COMMAND_RUNTIME;
        } else if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
        } else if (!only_files && argument[0] == '-' && argument[1] != '\0') {
            usage_error("there is no option %s", argument);
        } else if (c.kind == COMMAND_COMPILE && c.file == NULL && !only_files &&
                   command_word(argument) != COMMAND_COMPILE) {
            c.kind = command_word(argument);
        } else if (c.file != NULL && c.diff && c.other == NULL) {
            c.other = argument;
        } else if (c.file != NULL) {
            usage_error("one file at a time; what is %s?", argument);
        } else {
            c.file = argument;
        }
    }
    finish(pool, &c);
    return c;
}
