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

/* ---- the C compiler ---- */

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

static int run(Words *w) {
    pid_t child;
    int status = 0;
    PUSH(w->pool, w->word, w->count, NULL);
    int problem = posix_spawnp(&child, w->word[0], NULL, NULL, w->word, environ);
    if (problem != 0) {
        fprintf(stderr, "unetc: cannot run the C compiler %s: %s (set CC)\n", w->word[0],
                strerror(problem));
        return EXIT_TOOLS;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_DONE;
    fprintf(stderr, "unetc: the C compiler %s failed\n", w->word[0]);
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
    rmdir(folder);
}

int build_program(const Plan *plan, const Sources *sources, const char *program) {
    Pool *pool = plan->pool;
    const char *compiler = getenv("CC"), *home = runtime_folder(pool);
    /* Beside the program, so that the finished one can be moved into place. */
    char *folder = pool_text(pool, "%s.build-XXXXXX", program);
    if (compiler == NULL || *compiler == '\0')
        compiler = "cc";
    if (mkdtemp(folder) == NULL)
        environment_error("%s: %s", folder, strerror(errno));
    write_sources(plan, sources, folder);
    Words w = {.pool = pool};
    add_words(&w, compiler);
    add_words(&w, plan->c_flags);
    add_word(&w, pool_text(pool, "-I%s/include", home));
    add_word(&w, pool_text(pool, "%s/main.c", folder));
    add_word(&w, pool_text(pool, "%s/%s.c", folder, plan->model->name));
    add_word(&w, "-o");
    add_word(&w, pool_text(pool, "%s/program", folder));
    add_word(&w, pool_text(pool, "%s/libunet_runtime.a", home));
    add_words(&w, is_clang(compiler) ? UNETC_LINK_CLANG : UNETC_LINK);
    int result = run(&w);
    if (result == EXIT_DONE && rename(pool_text(pool, "%s/program", folder), program) != 0) {
        fprintf(stderr, "unetc: %s: %s\n", program, strerror(errno));
        result = EXIT_IO;
    }
    remove_folder(pool, folder, sources);
    return result;
}
