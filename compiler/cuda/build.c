/* build.c - what building a program for a GPU takes: nvcc, the headers and libraries of CUDA, cuDNN. */
#include "cuda/kernels.h"
#include "emit/build_program.h"

#include <stdlib.h>
#include <unistd.h>

static const char *cuda_folder(void) {
    return given_or("CUDA_HOME", "/usr/local/cuda");
}

/* nvcc, as $NVCC or the toolkit or the PATH has it. */
static void add_compiler(Words *w, const Options *options) {
    const char *beside = pool_text(w->pool, "%s/bin/nvcc", cuda_folder());
    add_words(w, given_or("NVCC", access(beside, X_OK) == 0 ? beside : "nvcc"));
    add_words(w, "-std=c++17 -O3");
    add_word(w, pool_text(w->pool, "-arch=%s", options->architecture));
    if (options->shared)
        add_words(w, "-Xcompiler -fPIC,-fvisibility=hidden");
}

static void add_includes(Words *w) {
    add_word(w, "-isystem");
    add_word(w, pool_text(w->pool, "%s/include", cuda_folder()));
}

/* cuDNN is where CUDNN_ROOT says (a folder with lib, as Python's wheel has), or beside CUDA. */
static void add_libraries(Words *w) {
    const char *cudnn = getenv("CUDNN_ROOT");
    const char *const folder[] = {cudnn != NULL ? pool_text(w->pool, "%s/lib", cudnn) : NULL,
                                  pool_text(w->pool, "%s/lib64", cuda_folder()),
                                  pool_text(w->pool, "%s/lib", cuda_folder())}; /* of Python's wheels */
    for (int i = 0; i < 3; i++) {
        if (folder[i] == NULL)
            continue;
        add_word(w, pool_text(w->pool, "-L%s", folder[i]));
        add_word(w, pool_text(w->pool, "-Wl,-rpath,%s", folder[i]));
    }
    add_words(w, "-l:libcudnn.so.9 -lcudart_static -lstdc++ -lrt -ldl");
}

static const char *link_help(Pool *pool) {
    return pool_text(
        pool,
        "a program for a GPU needs the libraries of CUDA and libcudnn.so.9: they are looked for in "
        "lib64 and lib of %s (set $CUDA_HOME for another folder), cuDNN also in $CUDNN_ROOT/lib",
        cuda_folder());
}

const BuildStep cuda_build = {
    .archive = "libunet_cuda.a",
    .missing =
        "unetc was built on a machine without the headers of CUDA and cuDNN; install them and build it "
        "again, or write the sources with -S DIR",
    .suffix = ".cu",
    .what = "CUDA compiler",
    .variable = "NVCC or CUDA_HOME",
    .add_compiler = add_compiler,
    .add_includes = add_includes,
    .add_libraries = add_libraries,
    .ranks = "nccl",
    .link_help = link_help,
};
