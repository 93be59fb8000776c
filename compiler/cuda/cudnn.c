/* cudnn.c - asking cuDNN, without a device, how it would compute a convolution.
 *
 * cuDNN plans for a device that is only described (version 9.8 and later): the engines it would take, their
 * settings and the exact bytes of workspace, which so become part of the memory plan. The library is
 * opened, not linked: a compiler on a machine without it works as well, but knows nothing of engines.
 *
 * A search for a plan asks the same questions again and again, so answers are kept.  Several threads may
 * ask at the same time; cuDNN allows it.
 */
#include "cuda/cudnn.h"
#include "base/size_math.h"
#include "base/diag.h"
#include "cuda/card.h"

#include <string.h>

static int64_t tensor_bytes(int64_t n, const int64_t size[3], int64_t channels, UnetType type) {
    int64_t points = size_product(size_product(size[0], size[1]), size[2]);
    return size_product(size_product(size_product(n, points), channels), type == UNET_F32 ? 4 : 2);
}

static int64_t operand_bytes(const UnetConvolution *c) {
    return size_sum(size_sum(tensor_bytes(c->batch, c->in, c->in_channels, c->type),
                             tensor_bytes(c->batch, c->out, c->out_channels, c->type)),
                    tensor_bytes(c->out_channels, c->kernel, c->in_channels, c->type));
}

#ifdef UNETC_CUDNN_HEADERS

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "../../runtime/cuda/convolution.h"

/* Without a device, cuDNN does not free all of its memory. That is not for our leak checker to judge. */
#ifndef __has_feature /* of clang */
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LEAKS_ALLOWED(call) (__lsan_disable(), (call), __lsan_enable())
#else
#define LEAKS_ALLOWED(call) (call)
#endif

/* ---- the library ---- */

enum { OLDEST = 90800 /* that plans without a device */, LAST_RESORT = 0 /* number of an engine */ };

/* A convolution that was asked for: all that tells it from others, and the answer. */
enum { KEY = 33 };
typedef struct {
    int64_t key[KEY];
    bool found;
    UnetEngine engine, roomy; /* within the cap; the same, or a better one that needs more */
    const char *why;
} Answer;

struct CudnnQuery {
    Pool *pool;
    const UnetEngineTable *measured;
    const char *not_asked;
    void *library;
    UnetCudnn api;
    cudnnBackendDescriptor_t device;
    const char *json; /* of the device */
    int32_t multiprocessors;
    bool driver;          /* without one, cuDNN knows only engines that are compiled already */
    pthread_mutex_t lock; /* of the pool and the answers, from when questions are asked */
    Answer *answer;
    int nanswer;
};

static void *open_of_toolkit(Pool *pool, const char *file) {
    const char *home = getenv("CUDA_HOME");
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && home != NULL && home[0] != '\0')
        library = dlopen(pool_text(pool, "%s/lib64/%s", home, file), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        library = dlopen(pool_text(pool, "/usr/local/cuda/lib64/%s", file), RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void *open_library(Pool *pool) {
    static const char file[] = "libcudnn.so.9";
    const char *wanted = getenv("UNETC_CUDNN"), *root = getenv("CUDNN_ROOT");
    void *library = NULL;
    if (wanted != NULL && wanted[0] != '\0') {
        bool is_file = strstr(wanted, ".so") != NULL;
        return dlopen(is_file ? wanted : pool_text(pool, "%s/%s", wanted, file), RTLD_NOW | RTLD_LOCAL);
    }
    if (root != NULL && root[0] != '\0')
        library = dlopen(pool_text(pool, "%s/lib/%s", root, file), RTLD_NOW | RTLD_LOCAL);
    return library != NULL ? library : open_of_toolkit(pool, file);
}

/* A pointer to a function comes out of dlsym as one to data; C lets only its bytes be copied. */
static bool look_up(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool look_up_all(void *library, UnetCudnn *api) {
    return look_up(library, "cudnnGetVersion", &api->version) &&
           look_up(library, "cudnnGetErrorString", &api->status_text) &&
           look_up(library, "cudnnGetLastErrorString", &api->last_error) &&
           look_up(library, "cudnnBackendCreateDescriptor", &api->create) &&
           look_up(library, "cudnnBackendDestroyDescriptor", &api->destroy) &&
           look_up(library, "cudnnBackendSetAttribute", &api->set) &&
           look_up(library, "cudnnBackendGetAttribute", &api->get) &&
           look_up(library, "cudnnBackendFinalize", &api->finalize) &&
           look_up(library, "cudnnBackendExecute", &api->execute);
}

/* The first failure in words. */
static const char *open_query(CudnnQuery *q, const char *card) {
    if (cuda_card_json(q->pool, card, 0) == NULL)
        return pool_text(q->pool, "unetc does not know the properties of %s", card);
    q->library = open_library(q->pool);
    if (q->library == NULL) {
        const char *why = dlerror();
        return pool_text(q->pool, "no cuDNN here: %s", why != NULL ? why : "not found");
    }
    size_t (*toolkit)(void);
    if (!look_up_all(q->library, &q->api) || !look_up(q->library, "cudnnGetCudartVersion", &toolkit))
        return "this is not cuDNN 9";
    if (q->api.version() < OLDEST)
        return pool_text(q->pool, "cuDNN %zu cannot plan without a device", q->api.version());
    UnetError error = {.text = ""};
    /* a device can be used only with a driver at least as new as the toolkit */
    q->json = cuda_card_json(q->pool, card, toolkit());
    q->multiprocessors = cuda_card_multiprocessors(q->pool, card);
    UnetStatus status;
    LEAKS_ALLOWED(status = unet_cudnn_describe_device(&q->api, q->json, &q->device, &error));
    if (status != UNET_OK)
        return pool_text(q->pool, "%s", error.text);
    /* cuDNN opens and closes CUDA's compiler of kernels with each question; that is quick while it is open
     */
    (void)open_of_toolkit(q->pool, pool_text(q->pool, "libnvrtc.so.%zu", toolkit() / 1000));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    q->driver = driver != NULL;
    if (driver != NULL)
        dlclose(driver);
    return NULL;
}

CudnnQuery *cudnn_open(Pool *pool, const char *card, const UnetEngineTable *measured) {
    CudnnQuery *q = NEW(pool, CudnnQuery);
    q->pool = pool;
    q->measured = measured;
    q->not_asked = open_query(q, card);
    CHECK(pthread_mutex_init(&q->lock, NULL) == 0);
    return q;
}

void cudnn_close(CudnnQuery *q) {
    if (q->device != NULL)
        q->api.destroy(q->device);
    q->device = NULL; /* the library stays: it is not made to be unloaded */
    q->not_asked = "closed";
    (void)pthread_mutex_destroy(&q->lock);
}

/* ---- questions ---- */

static void key_of(const UnetConvolution *c, int64_t key[KEY]) {
    const int64_t single[] = {c->kind,        c->type,        c->result_type, c->tf32, c->nondeterministic,
                              c->accumulate,  c->bias,        c->relu,        c->axes, c->batch,
                              c->in_channels, c->out_channels};
    const int64_t *triple[] = {c->in, c->out, c->kernel, c->stride, c->dilation, c->before, c->after};
    _Static_assert(sizeof single / sizeof *single + 3 * (sizeof triple / sizeof *triple) == KEY, "no gap");
    int n = 0;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        key[n++] = single[i];
    for (size_t i = 0; i < sizeof triple / sizeof *triple; i++) {
        for (int k = 0; k < 3; k++)
            key[n++] = triple[i][k];
    }
}

/* Fills in the rest of an answer whose key is there; returns whether it was known. */
static bool recall(CudnnQuery *q, Answer *answer) {
    bool known = false;
    (void)pthread_mutex_lock(&q->lock);
    for (int i = q->nanswer - 1; i >= 0 && !known; i--) {
        known = memcmp(q->answer[i].key, answer->key, sizeof answer->key) == 0;
        if (known)
            *answer = q->answer[i];
    }
    (void)pthread_mutex_unlock(&q->lock);
    return known;
}

/* WHY is copied. Two threads with the same question may both keep the same answer. */
static void keep(CudnnQuery *q, Answer *answer, const char *why) {
    (void)pthread_mutex_lock(&q->lock);
    if (why != NULL)
        answer->why = pool_text(q->pool, "%s", why);
    PUSH(q->pool, q->answer, q->nanswer, *answer);
    (void)pthread_mutex_unlock(&q->lock);
}

static UnetStatus ask_within(CudnnQuery *q, const UnetConvolution *c, int64_t cap, UnetEngine *engine,
                             UnetError *error) {
    const UnetCudnnTarget target = {
        .api = &q->api, .device = q->device, .multiprocessors = q->multiprocessors};
    UnetConvolution chosen = *c;
    UnetStatus status;
    LEAKS_ALLOWED(status = unet_cudnn_choose(&target, &chosen, cap, error));
    *engine = chosen.engine;
    return status;
}

static void ask(CudnnQuery *q, const UnetConvolution *c, Answer *answer) {
    UnetError error = {.text = ""};
    UnetStatus status = ask_within(q, c, CUDNN_WORKSPACE_CAP, &answer->engine, &error);
    answer->found = status == UNET_OK;
    if (status == UNET_TOO_SMALL && !q->driver) { /* there may be engines that are compiled when needed */
        answer->found = true;
        answer->engine = (UnetEngine){.workspace = CUDNN_WORKSPACE_CAP};
    }
    answer->roomy = answer->engine;
    UnetEngine other;
    UnetError unused;
    if (status == UNET_OK && answer->engine.engine == LAST_RESORT &&
        ask_within(q, c, size_sum(CUDNN_WORKSPACE_CAP, operand_bytes(c)), &other, &unused) == UNET_OK)
        answer->roomy = other;
    keep(q, answer, answer->found ? NULL : error.text);
}

bool cudnn_left_open(const CudnnQuery *q) {
    bool open = false;
    for (int i = 0; i < q->nanswer; i++)
        open = open || (q->answer[i].found && q->answer[i].engine.version == 0);
    return open;
}

const char *cudnn_device(const CudnnQuery *q) {
    return q->not_asked == NULL ? q->json : NULL;
}

static bool choose_by_advice(CudnnQuery *q, UnetConvolution *c, bool little, const char **why) {
    if (q->not_asked != NULL)
        return true;
    Answer answer = {.found = false};
    key_of(c, answer.key);
    if (!recall(q, &answer))
        ask(q, c, &answer);
    c->engine = little ? answer.engine : answer.roomy;
    *why = answer.why;
    return answer.found;
}

#else /* built without the headers of cuDNN */

struct CudnnQuery {
    const UnetEngineTable *measured;
    const char *not_asked;
};

CudnnQuery *cudnn_open(Pool *pool, const char *card, const UnetEngineTable *measured) {
    CudnnQuery *q = NEW(pool, CudnnQuery);
    q->measured = measured;
    q->not_asked =
        pool_text(pool, "unetc was built without the headers of cuDNN, so it cannot ask about %s", card);
    return q;
}

void cudnn_close(CudnnQuery *q) {
    q->not_asked = "closed";
}

bool cudnn_left_open(const CudnnQuery *q) {
    (void)q;
    return false;
}

const char *cudnn_device(const CudnnQuery *q) {
    (void)q;
    return NULL;
}

static bool choose_by_advice(CudnnQuery *q, UnetConvolution *c, bool little, const char **why) {
    (void)q, (void)c, (void)little, (void)why;
    return true;
}

#endif

const char *cudnn_not_asked(const CudnnQuery *q) {
    return q->not_asked;
}

const UnetEngineTable *cudnn_measured(const CudnnQuery *q) {
    return q->measured;
}

bool cudnn_choose(CudnnQuery *q, UnetConvolution *c, bool little, const char **why) {
    const int64_t cap = little ? CUDNN_WORKSPACE_CAP : size_sum(CUDNN_WORKSPACE_CAP, operand_bytes(c));
    const UnetTimedEngine *row = q->measured == NULL ? NULL : unet_engines_find(q->measured, c, cap);
    *why = NULL;
    c->engine = (UnetEngine){.workspace = CUDNN_WORKSPACE_CAP};
    if (row == NULL)
        return choose_by_advice(q, c, little, why);
    c->engine = row->convolution.engine;
    return true;
}
