/* cudnn_query_test.c - the compiler's questions to cuDNN, put to the stand-in of cudnn_reference: answers
 * are kept, a library that cannot answer is not asked, and what has no engine is told.
 *
 *     cudnn_query_test FOLDER      of a libcudnn.so.9 that is the stand-in
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/card.h"
#include "cuda/cudnn.h"

static int failures;

#define EXPECT(condition, ...)                                                                             \
    do {                                                                                                   \
        if (!(condition)) {                                                                                \
            fprintf(stderr, "%s:%d: " #condition " - ", __FILE__, __LINE__);                               \
            fprintf(stderr, __VA_ARGS__);                                                                  \
            fprintf(stderr, "\n");                                                                         \
            failures++;                                                                                    \
        }                                                                                                  \
    } while (0)

static UnetConvolution convolution(void) {
    return (UnetConvolution){.type = UNET_BF16,
                             .result_type = UNET_BF16,
                             .axes = 2,
                             .batch = 2,
                             .in_channels = 8,
                             .out_channels = 16,
                             .in = {1, 8, 8},
                             .out = {1, 8, 8},
                             .kernel = {1, 3, 3},
                             .stride = {1, 1, 1},
                             .dilation = {1, 1, 1},
                             .before = {0, 1, 1},
                             .after = {0, 1, 1}};
}

static void ask(CudnnQuery *query, UnetConvolution c, int64_t engine, int64_t workspace) {
    const char *why;
    for (int i = 0; i < 2; i++) { /* the second answer comes from memory */
        bool found = cudnn_choose(query, &c, i > 0, &why);
        EXPECT(found && c.engine.engine == engine && c.engine.workspace == workspace &&
                   c.engine.version > 0,
               "engine %lld, %lld bytes: %s", (long long)c.engine.engine, (long long)c.engine.workspace,
               why != NULL ? why : "found");
    }
}

static void test_answers(Pool *pool, const char *folder) {
    setenv("UNETC_CUDNN", folder, 1);
    CudnnQuery *query = cudnn_open(pool, "sm_90", NULL);
    EXPECT(cudnn_not_asked(query) == NULL, "%s", cudnn_not_asked(query));
    UnetConvolution c = convolution();
    ask(query, c, 1, 208);
    c.type = c.result_type = UNET_F32; /* not on tensor cores */
    ask(query, c, 3, 128);
    c.tf32 = true;
    ask(query, c, 1, 208);
    c.nondeterministic = true;
    ask(query, c, 2, 32);
    c.nondeterministic = false;
    ask(query, c, 1, 208);
    c.kind = UNET_BACKWARD_FILTER;
    c.type = UNET_F16; /* compiled when a program starts */
    ask(query, c, 4, 32);
    c.before[1] = -1;
    const char *why;
    EXPECT(!cudnn_left_open(query), "all were answered");
    for (int i = 0; i < 2; i++) {
        EXPECT(!cudnn_choose(query, &c, false, &why) && strstr(why, "not a convolution") != NULL, "%s",
               why);
    }
    cudnn_close(query);

    setenv("UNETC_CUDNN", pool_text(pool, "%s/libcudnn.so.9", folder), 1); /* the file itself */
    query = cudnn_open(pool, "sm_80", NULL);
    ask(query, convolution(), 1, 208);
    cudnn_close(query);
}

/* Every name stands for a card that cuDNN accepts, of the architecture that is compiled for. */
static void test_cards(Pool *pool, const char *folder) {
    setenv("UNETC_CUDNN", folder, 1);
    for (const Architecture *a = cuda_cards; a->word != NULL; a++) {
        const char *json = cuda_card_json(pool, a->word, 13000);
        const char *capability = pool_text(pool, "\"deviceVer\":%s0,", a->architecture + strlen("sm_"));
        EXPECT(json != NULL && strstr(json, capability) != NULL, "%s: %s", a->word, json);
        CudnnQuery *query = cudnn_open(pool, a->word, NULL);
        ask(query, convolution(), 1, 208);
        cudnn_close(query);
    }
    EXPECT(cuda_card_json(pool, "sm_9", 13000) == NULL, "part of a name");
}

/* Programs are linked with the library in $CUDNN_ROOT/lib, so it is asked. */
static void test_root(Pool *pool, const char *folder) {
    char root[] = "/tmp/unet_cudnn_root_XXXXXX";
    bool made = mkdtemp(root) != NULL;
    const char *lib = pool_text(pool, "%s/lib", root);
    EXPECT(made && symlink(folder, lib) == 0, "a folder with lib");
    unsetenv("UNETC_CUDNN");
    setenv("CUDNN_ROOT", root, 1);
    CudnnQuery *query = cudnn_open(pool, "sm_90", NULL);
    ask(query, convolution(), 1, 208);
    cudnn_close(query);
    unsetenv("CUDNN_ROOT");
    unlink(lib);
    rmdir(root);
}

/* If cuDNN is not asked, the cap is set aside. */
static void test_no_answer(Pool *pool, const char *library, const char *architecture, const char *reason) {
    setenv("UNETC_CUDNN", library, 1);
    CudnnQuery *query = cudnn_open(pool, architecture, NULL);
    const char *said = cudnn_not_asked(query), *why;
    EXPECT(said != NULL && strstr(said, reason) != NULL, "\"%s\", not \"%s\"", said, reason);
    UnetConvolution c = convolution();
    EXPECT(cudnn_choose(query, &c, false, &why) && why == NULL, "%s", reason);
    EXPECT(c.engine.version == 0 && c.engine.workspace == CUDNN_WORKSPACE_CAP, "%s", reason);
    cudnn_close(query);
}

/* A version that names engines only beside a driver. */
static void test_no_driver(Pool *pool, const char *folder) {
    setenv("UNETC_CUDNN", folder, 1);
    setenv("UNET_CUDNN_REFERENCE_VERSION", "92800", 1);
    CudnnQuery *query = cudnn_open(pool, "sm_90", NULL);
    UnetConvolution c = convolution();
    const char *why;
    bool found = cudnn_choose(query, &c, false, &why); /* with a driver, none is none */
    EXPECT(found == cudnn_left_open(query), "%s", why != NULL ? why : "found");
    EXPECT(!found || (c.engine.version == 0 && c.engine.workspace == CUDNN_WORKSPACE_CAP), "%lld bytes",
           (long long)c.engine.workspace);
    cudnn_close(query);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    Pool *pool = pool_new();
    test_answers(pool, argv[1]);
    test_root(pool, argv[1]);
    test_cards(pool, argv[1]);
    test_no_answer(pool, argv[1], "sm_70", "sm_70");
    test_no_answer(pool, "/nowhere", "sm_90", "no cuDNN here");
    test_no_answer(pool, "libm.so.6", "sm_90", "not cuDNN 9");
    test_no_driver(pool, argv[1]);
    setenv("UNET_CUDNN_REFERENCE_VERSION", "90100", 1);
    test_no_answer(pool, argv[1], "sm_90", "90100");
    pool_free(pool);
    printf("%d failures\n", failures);
    return failures > 0;
}
