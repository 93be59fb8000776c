/* files.c - reading the source, writing results, calling the C compiler. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
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
            environment_error("%s: larger than 16 MiB, which no .unet file is", path);
    }
    if (ferror(file))
        environment_error("%s: %s", path, strerror(errno));
    fclose(file);
    if (memchr(text, '\0', size) != NULL)
        environment_error("%s: contains zero bytes: not a text", path);
    text[size] = '\0';
    return text;
}

/* ---- writing ---- */

static void write_file(Pool *pool, const char *folder, const char *name, const Text *text) {
    const char *path = pool_text(pool, "%s/%s", folder, name);
    const char *temporary = pool_text(pool, "%s/.%s.%ld", folder, name, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (file == NULL)
        environment_error("%s: %s", path, strerror(errno));
    bool written = fwrite(text->bytes, 1, text->length, file) == text->length && fflush(file) == 0 &&
                   fsync(fileno(file)) == 0;
    int problem = errno;
    if (fclose(file) != 0 || !written || rename(temporary, path) != 0) {
        problem = written ? errno : problem;
        unlink(temporary);
        environment_error("%s: %s", path, strerror(problem));
    }
}

void write_sources(const Plan *plan, const Sources *sources, const char *folder) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        environment_error("%s: %s", folder, strerror(errno));
    for (int i = 0; i < sources->count; i++)
        write_file(plan->pool, folder, sources->file[i].name, sources->file[i].text);
}

/* ---- the compilers ---- */

typedef struct {
    Pool *pool;
    char **word;
    int count;
} Words;

/* The words of TEXT, separated by blanks. */
static void add_words(Words *w, const char *text) {
    char *copy = pool_copy(w->pool, text, strlen(text));
    for (char *rest = NULL, *word = strtok_r(copy, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        PUSH(w->pool, w->word, w->count, word);
}

static void add_word(Words *w, const char *text) {
    char *copy = pool_copy(w->pool, text, strlen(text));
    PUSH(w->pool, w->word, w->count, copy);
}

/* WHAT is the tool in words, VARIABLE names another one. */
static int run(Words *w, const char *what, const char *variable) {
    pid_t child;
    int status = 0;
    PUSH(w->pool, w->word, w->count, NULL);
    int problem = posix_spawnp(&child, w->word[0], NULL, NULL, w->word, environ);
    if (problem != 0) {
        fprintf(stderr, "unetc: cannot run the %s %s: %s (set %s)\n", what, w->word[0], strerror(problem),
                variable);
        return EXIT_TOOLS;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_DONE;
    fprintf(stderr, "unetc: the %s %s failed\n", what, w->word[0]);
    return EXIT_TOOLS;
}

const char *runtime_folder(Pool *pool) {
    const char *given = getenv("UNETC_RUNTIME");
    (void)pool;
    return given != NULL && *given != '\0' ? given : UNETC_RUNTIME_FOLDER;
}

static bool is_clang(const char *compiler) {
    return strstr(compiler, "clang") != NULL;
}

static void remove_folder(Pool *pool, const char *folder, const Sources *sources) {
    for (int i = 0; i < sources->count; i++)
        unlink(pool_text(pool, "%s/%s", folder, sources->file[i].name));
    unlink(pool_text(pool, "%s/program", folder));
    unlink(pool_text(pool, "%s/kernels.o", folder));
    rmdir(folder);
}

/* ---- building ---- */

typedef struct {
    const Plan *plan;
    const char *folder, *home; /* of the sources; of the runtime library */
    const char *compiler;
} Build;

static const char *given_or(const char *variable, const char *otherwise) {
    const char *given = getenv(variable);
    return given != NULL && *given != '\0' ? given : otherwise;
}

static const char *cuda_folder(void) {
    return given_or("CUDA_HOME", "/usr/local/cuda");
}

/* nvcc, as $NVCC or the PATH or the toolkit has it. */
static const char *cuda_compiler(Pool *pool) {
    const char *beside = pool_text(pool, "%s/bin/nvcc", cuda_folder());
    return given_or("NVCC", access(beside, X_OK) == 0 ? beside : "nvcc");
}

/* NAME_kernels.o */
static int compile_kernels(const Build *b) {
    Pool *pool = b->plan->pool;
    const char *name = b->plan->model->name;
    Words w = {.pool = pool};
    add_words(&w, cuda_compiler(pool));
    add_words(&w, "-std=c++17 -O3 -c");
    add_word(&w, pool_text(pool, "-arch=%s", b->plan->options->architecture));
    add_word(&w, pool_text(pool, "-I%s/include", b->home));
    add_word(&w, pool_text(pool, "%s/%s_kernels.cu", b->folder, name));
    add_word(&w, "-o");
    add_word(&w, pool_text(pool, "%s/kernels.o", b->folder));
    return run(&w, "CUDA compiler", "NVCC or CUDA_HOME");
}

/* cuDNN is where CUDNN_ROOT says (a folder with lib, as Python's wheel has), or beside CUDA. */
static void add_cuda_libraries(const Build *b, Words *w) {
    Pool *pool = b->plan->pool;
    const char *cudnn = getenv("CUDNN_ROOT");
    const char *const folder[] = {cudnn != NULL ? pool_text(pool, "%s/lib", cudnn) : NULL,
                                  pool_text(pool, "%s/lib64", cuda_folder()),
                                  pool_text(pool, "%s/lib", cuda_folder())}; /* of Python's wheels */
    for (int i = 0; i < 3; i++) {
        if (folder[i] == NULL)
            continue;
        add_word(w, pool_text(pool, "-L%s", folder[i]));
        add_word(w, pool_text(pool, "-Wl,-rpath,%s", folder[i]));
    }
    add_words(w, "-l:libcudnn.so.9 -lcudart_static -lstdc++ -lrt -ldl");
}

static int link_program(const Build *b) {
    Pool *pool = b->plan->pool;
    bool cuda = b->plan->target == &target_cuda;
    Words w = {.pool = pool};
    add_words(&w, b->compiler);
    add_words(&w, b->plan->c_flags);
    add_word(&w, pool_text(pool, "-I%s/include", b->home));
    if (cuda) {
        add_word(&w, "-isystem");
        add_word(&w, pool_text(pool, "%s/include", cuda_folder()));
    }
    add_word(&w, pool_text(pool, "%s/main.c", b->folder));
    add_word(&w, pool_text(pool, "%s/%s.c", b->folder, b->plan->model->name));
    if (cuda) {
        add_word(&w, pool_text(pool, "%s/kernels.o", b->folder));
        add_word(&w, pool_text(pool, "%s/libunet_cuda.a", b->home));
    }
    add_word(&w, "-o");
    add_word(&w, pool_text(pool, "%s/program", b->folder));
    add_word(&w, pool_text(pool, "%s/libunet_runtime.a", b->home));
    if (cuda)
        add_cuda_libraries(b, &w);
    add_words(&w, is_clang(b->compiler) ? UNETC_LINK_CLANG : UNETC_LINK);
    int result = run(&w, "C compiler", "CC");
    if (cuda && result != EXIT_DONE)
        fprintf(stderr,
                "unetc: a program for a GPU is linked with the libraries of CUDA, in lib64 or lib of %s "
                "($CUDA_HOME), and with libcudnn.so.9, there or in $CUDNN_ROOT/lib\n",
                cuda_folder());
    return result;
}

/* A compiler that was built without CUDA plans and emits for a GPU all the same. */
static bool can_link(const Build *b) {
    const char *library = pool_text(b->plan->pool, "%s/libunet_cuda.a", b->home);
    if (b->plan->target != &target_cuda || access(library, R_OK) == 0)
        return true;
    fprintf(stderr,
            "unetc: there is no %s: unetc was built on a machine without the headers of CUDA and cuDNN; "
            "install them and build it again, or write the sources with -S DIR\n",
            library);
    return false;
}

int build_program(const Plan *plan, const Sources *sources, const char *program) {
    Pool *pool = plan->pool;
    /* Beside the program, so that the finished one can be moved into place. */
    char *folder = pool_text(pool, "%s.build-XXXXXX", program);
    const Build b = {plan, folder, runtime_folder(pool), given_or("CC", "cc")};
    if (!can_link(&b))
        return EXIT_TOOLS;
    if (mkdtemp(folder) == NULL)
        environment_error("%s: %s", folder, strerror(errno));
    write_sources(plan, sources, folder);
    int result = plan->target == &target_cuda ? compile_kernels(&b) : EXIT_DONE;
    if (result == EXIT_DONE)
        result = link_program(&b);
    if (result == EXIT_DONE && rename(pool_text(pool, "%s/program", folder), program) != 0) {
        fprintf(stderr, "unetc: %s: %s\n", program, strerror(errno));
        result = EXIT_IO;
    }
    remove_folder(pool, folder, sources);
    return result;
}
