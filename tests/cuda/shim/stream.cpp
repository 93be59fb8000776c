/* stream.cpp - streams, events and graphs: when things are done.
 *
 * A stream is a queue of work. Usually it is done as soon as it comes, which is one of the orders a device
 * may choose; lazily it waits in the queue until somebody waits for it, which is the other extreme and
 * shows whoever forgot to wait. Between the two, work is begun when somebody waits, and then all streams
 * take turns, as far as events let them. A graph is the work that was submitted while its streams were
 * captured, each with what it has to wait for; arguments were copied at that time, as on a device. When it
 * is launched, any order may be chosen that lets nothing begin before that is done. */
#include "internal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

typedef std::function<void()> Work;

/* Work that waits for an event says so, for others to know that it cannot be done yet. */
struct Queued {
    Work work;
    cudaEvent_t awaited; /* or NULL */
    long time;
};

typedef std::set<size_t> Nodes; /* of a graph, by their places in it */

struct Node {
    Work work;
    Nodes after; /* none that stands behind it */
};

struct CUgraph_st {
    std::vector<Node> node;
    cudaStream_t origin;
    cudaStreamCaptureMode mode;
    std::map<cudaStream_t, Nodes> streams; /* that take part: what the next work there has to wait for */
    bool spoilt;
};

struct CUgraphExec_st {
    std::vector<Node> node;
};

struct CUstream_st {
    std::deque<Queued> queue;
    bool with_default; /* ordered with the default stream */
    bool busy;         /* in the middle of some work */
};

struct CUevent_st {
    cudaStream_t stream;
    long recorded, happened; /* times that it was, times that it did */
    bool timed;
    std::chrono::steady_clock::time_point time;
    cudaGraph_t capture; /* recorded in a captured stream: marks a place in that graph, */
    Nodes after;         /*   behind these */
};

namespace shim {

namespace {

CUstream_st default_stream = {{}, true, false};
std::set<cudaStream_t> streams = {&default_stream};
cudaGraph_t capture; /* the one under way, or NULL */
cudaError_t last_error;
bool stopped;                               /* the device: it does nothing more */
std::chrono::steady_clock::time_point told; /* what launches said that they take */

cudaStream_t resolved(cudaStream_t stream) {
    return stream == nullptr ? &default_stream : stream;
}

bool lazy() {
    static const char chosen = environment("UNET_SHIM_LAZY")[0];
    return chosen == '1' || chosen == '2';
}

bool interleaves() {
    static const bool chosen = environment("UNET_SHIM_LAZY")[0] == '2';
    return chosen;
}

std::chrono::steady_clock::time_point now() {
    static const bool chosen = environment("UNET_SHIM_CLOCK")[0] == '1';
    return chosen ? told : std::chrono::steady_clock::now();
}

void do_first(cudaStream_t stream) {
    const Queued queued = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->busy = true;
    queued.work();
    stream->busy = false;
}

bool can_go_on(cudaStream_t stream) {
    if (stream->busy || stream->queue.empty())
        return false;
    const Queued &first = stream->queue.front();
    return first.awaited == nullptr || first.awaited->happened >= first.time;
}

/* Waits that are over take no turn. */
void take_iteration(cudaStream_t stream) {
    for (bool waited = true; waited && can_go_on(stream);) {
        waited = stream->queue.front().awaited != nullptr;
        do_first(stream);
    }
}

void do_next(cudaStream_t stream) {
    do_first(stream);
    if (!interleaves())
        return;
    for (cudaStream_t other : streams)
        if (other != stream)
            take_iteration(other);
}

void enqueue(cudaStream_t stream, Queued queued) {
    stream->queue.push_back(std::move(queued));
    if (!lazy())
        finish(stream);
}

void await(cudaEvent_t event, long time) {
    while (event->happened < time)
        do_next(event->stream);
}

void default_streams_finish() {
    for (cudaStream_t stream : streams)
        if (stream->with_default)
            finish(stream);
}

} // namespace

bool captures(cudaStream_t stream) {
    return capture != nullptr && capture->streams.count(resolved(stream)) > 0;
}

bool spoils_capture(void) {
    if (capture == nullptr || capture->mode == cudaStreamCaptureModeRelaxed)
        return false;
    capture->spoilt = true;
    return true;
}

void stop_device(void) {
    stopped = true;
}

cudaError_t answer(cudaError_t error) {
    return fail(stopped ? cudaErrorIllegalAddress : error);
}

static void submit(cudaStream_t stream, Queued queued) {
    stream = resolved(stream);
    if (captures(stream)) {
        capture->node.push_back({std::move(queued.work), capture->streams[stream]});
        capture->streams[stream] = {capture->node.size() - 1};
        return;
    }
    if (stream == &default_stream)
        default_streams_finish();
    else if (stream->with_default)
        finish(&default_stream);
    enqueue(stream, std::move(queued));
}

void submit(cudaStream_t stream, Work work) {
    submit(stream, Queued{[=] {
                              if (!stopped)
                                  work();
                          },
                          nullptr, 0});
}

void finish(cudaStream_t stream) {
    stream = resolved(stream);
    while (!stream->queue.empty())
        do_next(stream);
}

void finish_all(void) {
    for (cudaStream_t stream : streams)
        finish(stream);
}

cudaError_t fail(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

void shim_takes(long nanoseconds) {
    told += std::chrono::nanoseconds(nanoseconds);
}

} // namespace shim

using namespace shim;

/* ---- errors ----------------------------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = answer(last_error);
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    return answer(last_error);
}

/* ---- streams ---------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    *stream = new CUstream_st{{}, !(flags & cudaStreamNonBlocking), false};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (captures(stream))
        return fail(cudaErrorStreamCaptureUnsupported);
    finish(stream);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (captures(stream) && spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    finish(stream);
    return answer(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void) {
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    finish_all();
    return answer(cudaSuccess);
}

/* Whoever asks again and again gets on. */
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (captures(stream) && spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    stream = resolved(stream);
    if (stream->queue.empty())
        return cudaSuccess;
    do_next(stream);
    return cudaErrorNotReady;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    submit(stream, [=] {
        usleep(1000 * (unsigned)atol(environment("UNET_SHIM_SLOW")));
        function(argument);
    });
    return answer(cudaSuccess);
}

/* ---- events ----------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    *event = new CUevent_st{nullptr, 0, 0, !(flags & cudaEventDisableTiming), {}, nullptr, {}};
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    await(event, event->recorded);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (event->stream != resolved(stream))
        await(event, event->recorded);
    event->stream = resolved(stream);
    event->capture = captures(stream) ? capture : nullptr;
    if (event->capture != nullptr) {
        event->after = capture->streams[event->stream];
        return cudaSuccess;
    }
    const long time = ++event->recorded;
    submit(stream, Queued{[=] {
                              event->happened = time;
                              event->time = now();
                          },
                          nullptr, 0});
    return answer(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    stream = resolved(stream);
    if (event->capture != nullptr) {
        if (event->capture != capture)
            return fail(cudaErrorCapturedEvent);
        capture->streams[stream].insert(event->after.begin(), event->after.end());
        return cudaSuccess;
    }
    if (captures(stream)) {
        capture->spoilt = true;
        return fail(cudaErrorStreamCaptureIsolation);
    }
    const long time = event->recorded;
    submit(stream, Queued{[=] { await(event, time); }, event, time});
    return answer(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event->capture != nullptr)
        return fail(cudaErrorCapturedEvent);
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    await(event, event->recorded);
    return answer(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (event->capture != nullptr)
        return fail(cudaErrorCapturedEvent);
    if (event->happened == event->recorded)
        return cudaSuccess;
    do_next(event->stream);
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!start->timed || !end->timed || start->recorded == 0 || end->recorded == 0)
        return fail(cudaErrorInvalidResourceHandle);
    if (start->happened < start->recorded || end->happened < end->recorded)
        return fail(cudaErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}

/* ---- graphs ----------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (capture != nullptr || stream == nullptr)
        return fail(cudaErrorStreamCaptureUnsupported);
    if (stopped)
        return answer(cudaSuccess);
    capture = new CUgraph_st{{}, stream, mode, {{stream, {}}}, false};
    return cudaSuccess;
}

/* Does the origin wait for all that was captured? */
static bool is_joined(const CUgraph_st &graph) {
    std::vector<bool> reached(graph.node.size());
    const Nodes &last = graph.streams.at(graph.origin);
    for (size_t i = graph.node.size(); i-- > 0;) {
        reached[i] = reached[i] || last.count(i) > 0;
        for (size_t before : graph.node[i].after)
            reached[before] = reached[before] || reached[i];
    }
    return std::all_of(reached.begin(), reached.end(), [](bool r) { return r; });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    *graph = nullptr;
    if (capture == nullptr || capture->origin != stream)
        return fail(cudaErrorIllegalState);
    cudaGraph_t ended = capture;
    capture = nullptr;
    if (!ended->spoilt && is_joined(*ended)) {
        *graph = ended;
        return cudaSuccess;
    }
    const bool spoilt = ended->spoilt;
    delete ended;
    return fail(spoilt ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    *status = !captures(stream) ? cudaStreamCaptureStatusNone
              : capture->spoilt ? cudaStreamCaptureStatusInvalidated
                                : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    *executable = new CUgraphExec_st{graph->node};
    return cudaSuccess;
}

/* Which of the nodes that may begin is the next one: UNET_SHIM_GRAPH. */
static size_t chosen(const std::vector<size_t> &ready, std::mt19937 *random) {
    const std::string order = environment("UNET_SHIM_GRAPH");
    if (order.empty())
        return ready.front();
    return order == "last" ? ready.back() : ready[(*random)() % ready.size()];
}

static void run_graph(const std::vector<Node> &node) {
    std::mt19937 random((unsigned)(atol(environment("UNET_SHIM_GRAPH")) + count.replays));
    std::vector<bool> done(node.size());
    for (size_t left = node.size(); left > 0; left--) {
        std::vector<size_t> ready;
        for (size_t i = 0; i < node.size(); i++)
            if (!done[i] && std::all_of(node[i].after.begin(), node[i].after.end(),
                                        [&](size_t before) { return done[before]; }))
                ready.push_back(i);
        const size_t next = chosen(ready, &random);
        node[next].work();
        done[next] = true;
    }
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    submit(stream, [=] {
        count.replays++;
        run_graph(executable->node);
    });
    return answer(cudaSuccess);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    finish_all();
    delete executable;
    return cudaSuccess;
}
