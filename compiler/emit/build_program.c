/* build_program.c - reading the source, writing results, calling the compilers.
 *
 * As many compilers run at a time as there are processors, each with one file or with several short ones.
 * No shell is called; but nvcc calls one, so sources and objects lie in a folder whose name is ours,
 * whatever the program's is.
 */
#define _DEFAULT_SOURCE /* realpath */
#include "ir/target.h"
#include "emit/build_program.h"
#include "emit/object_cache.h"
#include "emit/other_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_SOURCE = 16 << 20 };

/* ---- reading ---- */

const char *read_source(Pool *pool, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        environment_error("%s: %s", path, strerror(errno));
    size_t size = 0, capacity = 1 << 16;
    char *text = pool_array(pool, capacity + 1, 1);
    for (;;) {
        size_t got = fread(text + size, 1, capacity - size, file);
        size += got;
        if (got == 0)
            break;
        if (size == capacity) {
            char *larger = pool_array(pool, 2 * capacity + 1, 1);
            memcpy(larger, text, size);
            text = larger;
            capacity *= 2;
        }
        if (size > MAX_SOURCE)
            environment_error("%s: larger than 16 MiB, the limit for a .unet file", path);
    }
    if (ferror(file))
        environment_error("%s: %s", path, strerror(errno));
    fclose(file);
    if (memchr(text, '\0', size) != NULL)
        environment_error("%s: contains zero bytes; a .unet file is a text", path);
    text[size] = '\0';
    return text;
}

/* ---- writing ---- */

/* A file of the sources on its way: written under a temporary name. */
typedef struct {
    const char *path, *temporary;
    FILE *file;
} Writing;

static int fail_writing(const Writing *all, int count, const char *path, int problem) {
    for (int i = 0; i < count; i++)
        unlink(all[i].temporary);
    if (path != NULL)
        fprintf(stderr, "unetc: %s: %s\n", path, strerror(problem));
    return EXIT_IO;
}

/* The file of PATH, which must be nothing yet or a regular file: a symbolic link stays, and the file that
 * it points at is replaced.  NULL: it is something else, and *WHY. */
static const char *place_of(Pool *pool, const char *path, const char **why) {
    struct stat found;
    if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode)) {
        char *resolved = realpath(path, NULL);
        *why = "is a symbolic link, and what it points at cannot be found";
        path = resolved == NULL ? NULL : pool_copy(pool, resolved, strlen(resolved));
        free(resolved);
    }
    if (path == NULL || stat(path, &found) != 0 || S_ISREG(found.st_mode))
        return path;
    *why = "is no regular file, and only those are replaced";
    return NULL;
}

/* No file that someone else put there is followed; a file of ours was left by a process that is gone. */
static FILE *open_temporary(const char *path) {
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, "wb");
}

/* All are written, then, if they are to last, all synced, then all renamed: the first sync takes the others
 * along, and no file of an earlier compilation stands beside one of this. */
static int write_all(const Plan *plan, const Sources *sources, const char *folder, bool lasting) {
    const int count = sources->count;
    Writing *all = NEW_ARRAY(plan->pool, Writing, count);
    for (int i = 0; i < count; i++) {
        const SourceFile *source = &sources->file[i];
        Writing *w = &all[i];
        const char *named = pool_text(plan->pool, "%s/%s", folder, source->name), *why = NULL;
        w->path = place_of(plan->pool, named, &why);
        if (w->path == NULL) {
            fprintf(stderr, "unetc: %s %s\n", named, why);
            return fail_writing(all, i, NULL, 0);
        }
        w->temporary = pool_text(plan->pool, "%s/.%s.%ld", folder, source->name, (long)getpid());
        w->file = open_temporary(w->temporary);
        if (w->file == NULL)
            return fail_writing(all, i, w->path, errno);
        if (fwrite(source->text->bytes, 1, source->text->length, w->file) != source->text->length ||
            fflush(w->file) != 0)
            return fail_writing(all, i + 1, w->path, errno);
    }
    for (int i = 0; i < count; i++)
        if ((lasting && fsync(fileno(all[i].file)) != 0) || fclose(all[i].file) != 0)
            return fail_writing(all, count, all[i].path, errno);
    for (int i = 0; i < count; i++)
        if (rename(all[i].temporary, all[i].path) != 0)
            return fail_writing(all, count, all[i].path, errno);
    return EXIT_DONE;
}

int write_sources(const Plan *plan, const Sources *sources, const char *folder) {
    const bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST)
        return fail_writing(NULL, 0, folder, errno);
    int result = write_all(plan, sources, folder, true);
    if (result != EXIT_DONE && made)
        rmdir(folder);
    return result;
}

/* ---- the compilers ---- */

void add_words(Words *w, const char *text) {
    char *copy = pool_copy(w->pool, text, strlen(text));
    for (char *rest = NULL, *word = strtok_r(copy, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest))
        PUSH(w->pool, w->word, w->count, word);
}

void add_word(Words *w, const char *text) {
    char *copy = pool_copy(w->pool, text, strlen(text));
    PUSH(w->pool, w->word, w->count, copy);
}

/* A compiler at work. */
typedef struct {
    const char *what, *variable; /* in words; what names another one */
    Words words;
    pid_t process;
} Job;

/* Signals that ask unetc to end wait while there is something to take away. */
static void hold_signals(sigset_t *before) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ends, before);
}

static bool signal_waits(void) {
    sigset_t waiting;
    return sigpending(&waiting) == 0 &&
           (sigismember(&waiting, SIGHUP) == 1 || sigismember(&waiting, SIGINT) == 1 ||
            sigismember(&waiting, SIGTERM) == 1);
}

/* A compiler does not wait: signals end it. */
static int spawn(Job *job) {
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int problem = posix_spawnattr_init(&attributes);
    if (problem != 0)
        return problem;
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    problem = posix_spawnp(&job->process, job->words.word[0], NULL, &attributes, job->words.word, environ);
    (void)posix_spawnattr_destroy(&attributes);
    return problem;
}

/* Begins; returns an exit code. */
static int start(Job *job) {
    Words *w = &job->words;
    PUSH(w->pool, w->word, w->count, NULL);
    int problem = spawn(job);
    if (problem == 0)
        return EXIT_DONE;
    fprintf(stderr, "unetc: cannot run the %s %s: %s (set %s)\n", job->what, w->word[0], strerror(problem),
            job->variable);
    return problem == ENOMEM ? EXIT_IO : EXIT_TOOLS;
}

/* A compiler does not say why it fails, and what it compiles is right: where memory is limited, says so. */
static bool has_little_memory(void) {
    const int64_t limit = limit_of_memory();
    if (limit >= 0)
        fprintf(stderr, "unetc: it has %lld KiB of memory (`ulimit -v`), which may be too little\n",
                (long long)(limit / 1024));
    return limit >= 0;
}

/* Waits until one of the jobs ends; returns an exit code. */
static int finish_one(const Job *job, int count) {
    int status = 0;
    pid_t process;
    while ((process = waitpid(-1, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_DONE;
    for (int i = 0; i < count; i++)
        if (job[i].process == process)
            fprintf(stderr, "unetc: the %s %s failed\n", job[i].what, job[i].words.word[0]);
    return has_little_memory() ? EXIT_IO : EXIT_TOOLS;
}

/* All jobs, in this order, as many at a time as there are processors; none is begun after a failure. */
static int run_all(Job *job, int count) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int result = EXIT_DONE, begun = 0, ended = 0;
    while (ended < begun || (begun < count && result == EXIT_DONE)) {
        bool room = begun == ended || begun - ended < processors;
        if (begun < count && result == EXIT_DONE && room) {
            result = signal_waits() ? EXIT_TOOLS : start(&job[begun]);
            begun += result == EXIT_DONE;
        } else {
            int one = finish_one(job, begun);
            result = result == EXIT_DONE ? one : result;
            ended++;
        }
    }
    return result;
}

static bool is_clang(const char *compiler) {
    return strstr(compiler, "clang") != NULL;
}

/* ---- building ---- */

/* A file, and for what level of processors it is compiled; NULL: for all.  The compiler takes others along,
 * for with a short file it is busy starting and reading headers. */
typedef struct {
    const SourceFile *file;
    const Level *level;
    const char *path;
    const SourceFile **along;
    int nalong;
    size_t length;   /* of all texts */
    const char *key; /* of the cache; NULL: the object is not kept there */
} Object;

enum { SHORT_TEXT = 4096, TEXT_TOGETHER = 16384 };

typedef struct {
    const Plan *plan;
    const BuildStep *step;     /* of the target, or NULL */
    const char *folder, *home; /* of the sources; of the runtime library */
    const char *beside;        /* a folder beside the program, */
    const char *linked;        /* and in it the program, until it is moved into place */
    const char *compiler;
    ObjectCache *cache; /* or NULL */
    Object *object;
    int nobject;
} Build;

const char *given_or(const char *variable, const char *otherwise) {
    const char *given = getenv(variable);
    return given != NULL && *given != '\0' ? given : otherwise;
}

/* "FOLDER/tiny_unet_conv.c.v3.o" */
static const char *object_name(const Build *b, const SourceFile *file, const Level *level) {
    return pool_text(b->plan->pool, "%s/%s%s%s.o", b->folder, file->name, level == NULL ? "" : ".",
                     level == NULL ? "" : level->name);
}

static bool is_short(const SourceFile *file) {
    return file->joins && file->text->length < SHORT_TEXT;
}

/* An object that has room for the file; NULL: none. */
static Object *room_for(const Build *b, const SourceFile *file, const Level *level) {
    for (int i = 0; is_short(file) && i < b->nobject; i++) {
        Object *object = &b->object[i];
        if (object->level == level && is_short(object->file) &&
            object->length + file->text->length <= TEXT_TOGETHER)
            return object;
    }
    return NULL;
}

static void add_object(Build *b, const SourceFile *file, const Level *level) {
    Object *with = room_for(b, file, level);
    if (with != NULL) {
        PUSH(b->plan->pool, with->along, with->nalong, file);
        with->length += file->text->length;
        return;
    }
    const Object object = {
        .file = file, .level = level, .path = object_name(b, file, level), .length = file->text->length};
    PUSH(b->plan->pool, b->object, b->nobject, object);
}

/* Longer texts first: they take longer. */
static int by_length(const void *a, const void *b) {
    size_t first = ((const Object *)a)->length, second = ((const Object *)b)->length;
    return (first < second) - (first > second);
}

static void list_objects(Build *b, const Sources *sources) {
    for (int i = 0; i < sources->count; i++) {
        const SourceFile *file = &sources->file[i];
        if (!is_compiled(file))
            continue;
        add_object(b, file, NULL);
        for (const Level *level = levels_of(b->plan); level->name != NULL && !file->has_main; level++)
            add_object(b, file, level);
    }
    if (b->nobject > 0)
        qsort(b->object, (size_t)b->nobject, sizeof *b->object, by_length);
}

static Job c_job(const Build *b) {
    Pool *pool = b->plan->pool;
    Job job = {.what = "C compiler", .variable = "CC", .words = {.pool = pool}};
    add_words(&job.words, b->compiler);
    add_words(&job.words, c_flags_of(b->plan));
    if (b->plan->options->shared)
        add_words(&job.words, "-fPIC -fvisibility=hidden");
    if (b->step != NULL)
        b->step->add_includes(&job.words);
    return job;
}

/* A job of the compiler that only this target has. */
static Job own_job(const Build *b) {
    Job job = {.what = b->step->what, .variable = b->step->variable, .words = {.pool = b->plan->pool}};
    b->step->add_compiler(&job.words, b->plan->options);
    return job;
}

/* Options that tell the file with main() of the levels, and other files their own level; without levels,
 * what this machine asks for. */
static const char *level_options(const Build *b, const Object *object) {
    const Target *target = b->plan->target;
    if (object->level != NULL)
        return pool_text(b->plan->pool, "%s -DUNET_LEVEL=%s", object->level->flags, object->level->name);
    if (levels_of(b->plan)->name != NULL)
        return object->file->has_main ? "-DUNET_LEVELS" : "";
    return target->flags_of_machine == NULL ? "" : target->flags_of_machine(b->plan->options);
}

static Job compile_job(const Build *b, const Object *object) {
    const SourceFile *file = object->file;
    const bool own = b->step != NULL && strcmp(strrchr(file->name, '.'), b->step->suffix) == 0;
    Job job = own ? own_job(b) : c_job(b);
    add_words(&job.words, level_options(b, object));
    add_word(&job.words, pool_text(b->plan->pool, "-I%s/include", b->home));
    for (int i = 0; i < object->nalong; i++) {
        add_word(&job.words, "-include");
        add_word(&job.words, pool_text(b->plan->pool, "%s/%s", b->folder, object->along[i]->name));
    }
    add_word(&job.words, "-c");
    add_word(&job.words, pool_text(b->plan->pool, "%s/%s", b->folder, file->name));
    add_word(&job.words, "-o");
    add_word(&job.words, object->path);
    return job;
}

/* The object is in the cache, and is there now. */
static bool is_taken(const Build *b, Object *object) {
    const SourceFile **file = NULL;
    int nfile = 0;
    if (b->cache == NULL)
        return false;
    for (int i = 0; i < object->nalong; i++)
        PUSH(b->plan->pool, file, nfile, object->along[i]);
    PUSH(b->plan->pool, file, nfile, object->file);
    object->key = cache_key(b->cache, &(Compiled){file, nfile, level_options(b, object)});
    return object->key != NULL && cache_take(b->cache, object->key, object->path);
}

static int compile_program(const Build *b) {
    Job *job = NULL;
    Object **compiled = NULL;
    int count = 0, ncompiled = 0;
    for (int i = 0; i < b->nobject; i++)
        if (!is_taken(b, &b->object[i])) {
            PUSH(b->plan->pool, job, count, compile_job(b, &b->object[i]));
            PUSH(b->plan->pool, compiled, ncompiled, &b->object[i]);
        }
    const int result = run_all(job, count);
    for (int i = 0; i < ncompiled && result == EXIT_DONE; i++)
        if (compiled[i]->key != NULL)
            cache_keep(b->cache, compiled[i]->key, compiled[i]->path);
    return result;
}

static const char *own_library(const Build *b) {
    return pool_text(b->plan->pool, "%s/%s", b->home, b->step->archive);
}

/* Returns whether unetc was built with NAME, a library; a program takes WHAT from the library. */
static bool add_part(const Build *b, Words *w, const char *name, const char *what) {
    const char *archive = pool_text(b->plan->pool, "%s/libunet_%s.a", b->home, name);
    if (access(archive, R_OK) != 0)
        return false;
    add_word(w, pool_text(b->plan->pool, "-Wl,-u,unet_%s_%s", name, what));
    add_word(w, archive);
    add_words(w, read_source(b->plan->pool, pool_text(b->plan->pool, "%s/libraries_%s", b->home, name)));
    return true;
}

/* Programs that several processes may run link MPI, what a secret is proved with, and what connects their
 * devices. */
static void add_parts(const Build *b, Words *w) {
    if (b->plan->model->train.ranks == 1)
        return;
    if (!add_part(b, w, "mpi", "transport"))
        fputs("unetc: note: mpirun and srun cannot start several processes of the program, for unetc "
              "was built without MPI (Debian: mpi-default-dev); torchrun can\n",
              stderr);
    if (!add_part(b, w, "secret", "hash"))
        fputs("unetc: note: processes on several machines cannot prove by a secret that they are of one "
              "job, for unetc was built without libsodium (Debian: libsodium-dev)\n",
              stderr);
    if (b->step != NULL && !add_part(b, w, b->step->ranks, "transport"))
        fputs("unetc: note: gradients of several processes go through the memory of the host, for unetc "
              "was built without NCCL\n",
              stderr);
}

/* A package may have libraries in the runtime's folder. */
static void add_home(const Build *b, Words *w) {
    add_word(w, pool_text(b->plan->pool, "-L%s", b->home));
}

static void add_libraries(const Build *b, Words *w) {
    add_parts(b, w);
    add_home(b, w);
    add_word(w, pool_text(b->plan->pool, "%s/libunet_runtime.a", b->home));
    if (b->step != NULL)
        b->step->add_libraries(w);
    add_words(w, is_clang(b->compiler) ? UNETC_LINK_CLANG : UNETC_LINK);
}

/* All of libunet_small.a is linked, and in front, so that it stands in place of what the runtime calls by
 * the same names; then goes whatever nobody calls, and the names go, too. */
static void add_small(const Build *b, Words *w) {
    Pool *pool = b->plan->pool;
    add_words(w, "-s -Wl,--gc-sections -Wl,--whole-archive");
    add_word(w, pool_text(pool, "%s/libunet_small.a", b->home));
    add_word(w, "-Wl,--no-whole-archive");
    add_home(b, w);
    add_word(w, pool_text(pool, "%s/libunet_runtime.a", b->home));
    add_words(w, read_source(pool, pool_text(pool, "%s/libraries_small", b->home)));
}

/* A door needs no files but of weights, so nothing else is linked; and all names but its own are hidden. */
static void add_door(const Build *b, Words *w) {
    Pool *pool = b->plan->pool;
    add_words(w, "-shared -Wl,--gc-sections");
    add_word(w, pool_text(pool, "-Wl,--version-script=%s/door.map", b->home));
    add_home(b, w);
    add_word(w, pool_text(pool, "%s/libunet_runtime.a", b->home));
    if (b->step != NULL)
        b->step->add_libraries(w);
    add_words(w, read_source(pool, pool_text(pool, "%s/libraries_shared", b->home)));
}

static int link_program(const Build *b) {
    Pool *pool = b->plan->pool;
    Job job = c_job(b);
    Words *w = &job.words;
    for (int i = 0; i < b->nobject; i++)
        add_word(w, b->object[i].path);
    if (b->step != NULL)
        add_word(w, own_library(b));
    add_word(w, "-o");
    add_word(w, b->linked);
    if (b->plan->options->shared)
        add_door(b, w);
    else if (b->plan->options->no_images)
        add_small(b, w);
    else
        add_libraries(b, w);
    int result = run_all(&job, 1);
    if (b->step != NULL && result != EXIT_DONE)
        fprintf(stderr, "unetc: %s\n", b->step->link_help(pool));
    return result;
}

/* A compiler that was built without a target's headers plans and emits for it all the same. */
static bool can_link(const Build *b) {
    if (b->step == NULL || access(own_library(b), R_OK) == 0)
        return true;
    fprintf(stderr, "unetc: there is no %s: %s\n", own_library(b), b->step->missing);
    return false;
}

/* The name of the program without its folder, and that folder. */
static const char *last_part(const char *program) {
    const char *slash = strrchr(program, '/');
    return slash == NULL ? program : slash + 1;
}

static const char *folder_of(Pool *pool, const char *program) {
    const size_t length = (size_t)(last_part(program) - program);
    return length == 0 ? "." : length == 1 ? "/" : pool_copy(pool, program, length - 1);
}

static const char *no_place(Pool *pool, const char *program, int problem) {
    return pool_text(pool, "%s cannot be created in %s: %s", last_part(program), folder_of(pool, program),
                     strerror(problem));
}

const char *find_place(Pool *pool, const char *given) {
    struct stat found;
    const char *why = NULL, *program = place_of(pool, given, &why);
    if (*last_part(given) == '\0' || (stat(given, &found) == 0 && S_ISDIR(found.st_mode)))
        environment_error("%s is a folder: give the program another name with -o", given);
    if (program == NULL)
        environment_error("%s %s", given, why);
    if (access(folder_of(pool, program), W_OK | X_OK) != 0)
        environment_error("%s", no_place(pool, program, errno));
    return program;
}

/* The sources lie where temporary files do.  The program begins beside its place, so that it can be moved
 * there; its path is one, whatever it begins with, and neither an option nor a file of options. */
static int make_folders(Build *b, const char *program) {
    Pool *pool = b->plan->pool;
    const char *given = given_or("TMPDIR", "/tmp"), *temporary = *given == '/' ? given : "/tmp";
    char *folder = pool_text(pool, "%s/unetc-XXXXXX", temporary);
    char *beside = pool_text(pool, "%s%s.build-XXXXXX", *program == '/' ? "" : "./", program);
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "unetc: TMPDIR is %s, where no folder can be made: %s\n", temporary,
                strerror(errno));
        return EXIT_IO;
    }
    if (mkdtemp(beside) == NULL) {
        fprintf(stderr, "unetc: %s\n", no_place(pool, program, errno));
        rmdir(folder);
        return EXIT_IO;
    }
    b->folder = folder;
    b->beside = beside;
    b->linked = pool_text(pool, "%s/program", beside);
    return EXIT_DONE;
}

static void remove_folders(const Build *b, const Sources *sources) {
    for (int i = 0; i < sources->count; i++)
        unlink(pool_text(b->plan->pool, "%s/%s", b->folder, sources->file[i].name));
    for (int i = 0; i < b->nobject; i++)
        unlink(b->object[i].path);
    rmdir(b->folder);
    unlink(b->linked);
    rmdir(b->beside);
}

static int build_in_folders(const Build *b, const Sources *sources, const char *program) {
    int result = write_all(b->plan, sources, b->folder, false);
    if (result == EXIT_DONE)
        result = compile_program(b);
    if (result == EXIT_DONE)
        result = link_program(b);
    if (result == EXIT_DONE && rename(b->linked, program) != 0) {
        fprintf(stderr, "unetc: %s\n", no_place(b->plan->pool, program, errno));
        result = EXIT_IO;
    }
    return result;
}

/* Objects of another target follow from its own compiler and headers, too, which the cache does not know.
 */
static ObjectCache *open_cache(const Build *b, const Sources *sources) {
    if (b->step != NULL || b->plan->options->no_cache)
        return NULL;
    const Job job = c_job(b);
    return cache_open(&job.words, sources, b->home, b->folder);
}

static int build_with_cache(Build *b, const Sources *sources, const char *program) {
    b->cache = open_cache(b, sources);
    const int result = build_in_folders(b, sources, program);
    if (b->cache != NULL)
        cache_close(b->cache);
    return result;
}

/* The runtime library for the machine that the compiler compiles for; the usual one asks no question. */
static int find_home(Build *b) {
    if (strcmp(b->compiler, "cc") != 0 && b->step == NULL)
        b->home = home_for_compiler(b->plan, b->compiler, b->home, b->folder);
    return b->home == NULL ? EXIT_TOOLS : EXIT_DONE;
}

int build_program(const Plan *plan, const Sources *sources, const char *program) {
    Build b = {.plan = plan,
               .step = plan->target->build,
               .home = runtime_folder(plan->pool),
               .compiler =
                   plan->options->compiler != NULL ? plan->options->compiler : given_or("CC", "cc")};
    sigset_t before;
    if (!can_link(&b))
        return EXIT_TOOLS;
    hold_signals(&before);
    int result = make_folders(&b, program);
    if (result == EXIT_DONE) {
        list_objects(&b, sources);
        result = find_home(&b);
        if (result == EXIT_DONE)
            result = build_with_cache(&b, sources, program);
        remove_folders(&b, sources);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}
