/* nccl.cpp - the calls of NCCL that programs make, between processes of one machine by shared memory.
 *
 * Work of a stream takes its turn in that stream (tests/cuda/shim) and is captured in graphs,
 * as with NCCL.  Each pair of processes has a pipe in each direction; both sides of it must agree on the
 * message.  All calls of a group go on together; one that stands alone waits for its partner, so two
 * processes that each send first never end.  Sums have an order of their own, which differs from place to
 * place.  If a process has ended, the processes that wait for it stop waiting, and ncclCommGetAsyncError()
 * says so.
 *
 * With UNET_NCCL_STOPS=R rank R stops itself before its third group.
 *
 * A communicator that is aborted or destroyed waits until no stream and no graph holds a call of its own,
 * as NCCL's does; another thread may destroy the graphs meanwhile.
 *
 * Two processes that share a device are refused, and so is memory of the host.  A call that NCCL does not
 * take ends the program with a message: a group that is not ended, a length that differs. */
#include <nccl.h> /* in front of the words that the shim defines */

#include "shim.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

enum { MOST = 8, PIPE_BYTES = 1 << 14 };

/* Bytes [read, written) are on the way. */
struct Pipe {
    std::atomic<uint64_t> written, read;
    char bytes[PIPE_BYTES];
};

struct Shared {
    std::atomic<int> joined;
    std::atomic<pid_t> process[MOST];
    int device[MOST];
    Pipe pipe[MOST][MOST]; /* from, to */
};

[[noreturn]] void misused(const char *what) {
    fprintf(stderr, "NCCL's stand-in: %s\n", what);
    abort();
}

/* Also of one that has ended and that nobody has asked about yet. */
bool has_ended(pid_t process) {
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file == nullptr)
        return true;
    if (fscanf(file, "%*d %*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(file);
    return state == 'Z' || state == 'X';
}

enum class Kind { SEND, RECEIVE, ALL_REDUCE, REDUCE };

struct Call {
    Kind kind;
    float *at;
    size_t count;
    int peer; /* or root */
    ncclComm_t comm;
    cudaStream_t stream;
};

/* The calls of a group that this thread has made so far. */
thread_local int depth;
thread_local std::vector<Call> group;

} // namespace

struct ncclComm {
    Shared *shared;
    int rank, size;
    std::atomic<ncclResult_t> error;
    std::atomic<int> held; /* groups of calls in streams and in graphs */
};

namespace {

/* Something that goes one way: its length, then itself. */
struct Transfer {
    Pipe *pipe;
    pid_t other;
    bool sends;
    uint64_t length, said; /* what the sender takes it for */
    char *bytes;
    uint64_t done; /* of both */
};

/* Bytes from AT on, as far as the pipe lets them. */
bool move(Transfer &t) {
    Pipe &pipe = *t.pipe;
    const uint64_t all = sizeof t.length + t.length, start = t.done;
    while (t.done < all) {
        const bool head = t.done < sizeof t.length;
        char *at = head ? reinterpret_cast<char *>(&t.said) + t.done : t.bytes + (t.done - sizeof t.length);
        const uint64_t written = pipe.written.load(), read = pipe.read.load();
        const uint64_t place = (t.sends ? written : read) % PIPE_BYTES;
        const uint64_t can = std::min({t.sends ? PIPE_BYTES - (written - read) : written - read,
                                       PIPE_BYTES - place, head ? sizeof t.length - t.done : all - t.done});
        if (can == 0)
            break;
        memcpy(t.sends ? pipe.bytes + place : at, t.sends ? at : pipe.bytes + place, can);
        (t.sends ? pipe.written : pipe.read) += can;
        t.done += can;
        if (t.done >= sizeof t.length && t.said != t.length)
            misused("what is sent has another length than what is awaited");
    }
    return t.done > start;
}

void run(ncclComm_t comm, std::vector<Transfer> &transfers) {
    for (long idle = 0; comm->error == ncclSuccess;) {
        bool left = false, moved = false;
        for (Transfer &t : transfers) {
            moved |= move(t);
            left |= t.done < sizeof t.length + t.length;
        }
        if (!left)
            return;
        idle = moved ? 0 : idle + 1;
        if (idle > 20)
            usleep(200);
        for (const Transfer &t : transfers)
            if (idle % 100 == 99 && t.done < sizeof t.length + t.length && has_ended(t.other))
                comm->error = ncclRemoteError;
    }
}

Transfer transfer(ncclComm_t comm, int peer, bool sends, void *bytes, size_t count) {
    Shared &s = *comm->shared;
    return {sends ? &s.pipe[comm->rank][peer] : &s.pipe[peer][comm->rank],
            s.process[peer],
            sends,
            count * sizeof(float),
            sends ? count * sizeof(float) : 0,
            static_cast<char *>(bytes),
            0};
}

/* All send all to whoever is to have the sum. */
void reduce(const Call &call, std::vector<Transfer> &transfers, std::vector<std::vector<float>> &others) {
    const int me = call.comm->rank;
    const bool all = call.kind == Kind::ALL_REDUCE;
    others.assign((size_t)call.comm->size, {});
    for (int r = 0; r < call.comm->size; r++) {
        if (r != me && (all || r == call.peer))
            transfers.push_back(transfer(call.comm, r, true, call.at, call.count));
        if (r == me || (!all && me != call.peer))
            continue;
        others[(size_t)r].resize(call.count);
        transfers.push_back(transfer(call.comm, r, false, others[(size_t)r].data(), call.count));
    }
}

/* The sum at a place begins with another process than that at the next. */
void add(const Call &call, std::vector<std::vector<float>> &others) {
    const size_t size = (size_t)call.comm->size;
    if (call.kind == Kind::REDUCE && call.peer != call.comm->rank)
        return;
    others[(size_t)call.comm->rank].assign(call.at, call.at + call.count);
    for (size_t i = 0; i < call.count; i++) {
        float sum = others[i % size][i];
        for (size_t k = 1; k < size; k++)
            sum = others[(i + size - k) % size][i] + sum;
        call.at[i] = sum;
    }
}

void run_calls(const std::vector<Call> &calls) {
    std::vector<Transfer> transfers;
    std::vector<std::vector<std::vector<float>>> others(calls.size());
    for (size_t i = 0; i < calls.size(); i++) {
        const Call &c = calls[i];
        if (c.kind == Kind::SEND || c.kind == Kind::RECEIVE)
            transfers.push_back(transfer(c.comm, c.peer, c.kind == Kind::SEND, c.at, c.count));
        else
            reduce(c, transfers, others[i]);
    }
    run(calls[0].comm, transfers);
    for (size_t i = 0; i < calls.size() && calls[0].comm->error == ncclSuccess; i++)
        if (calls[i].kind == Kind::ALL_REDUCE || calls[i].kind == Kind::REDUCE)
            add(calls[i], others[i]);
}

/* Whether this is memory of a device. */
bool on_device(const void *at) {
    cudaPointerAttributes found;
    return cudaPointerGetAttributes(&found, at) == cudaSuccess && found.type == cudaMemoryTypeDevice;
}

ncclResult_t queue(Call call, ncclDataType_t type) {
    if (type != ncclFloat || call.peer < 0 || call.peer >= call.comm->size || !on_device(call.at))
        return ncclInvalidArgument;
    group.push_back(call);
    if (depth > 0)
        return ncclSuccess;
    depth = 1;
    return ncclGroupEnd();
}

Shared *map(const char *name, int flags) {
    const int file = shm_open(name, O_RDWR | flags, 0600);
    if (file < 0 || ftruncate(file, sizeof(Shared)) != 0)
        return nullptr;
    void *at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return at == MAP_FAILED ? nullptr : static_cast<Shared *>(at);
}

} // namespace

/* ---- what programs call ----------------------------------------------------------------------------- */

ncclResult_t ncclGetVersion(int *version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
    return result == ncclRemoteError       ? "remote process exited or there was a network error"
           : result == ncclInvalidUsage    ? "invalid usage"
           : result == ncclInvalidArgument ? "invalid argument"
                                           : "system error";
}

const char *ncclGetLastError(ncclComm_t) {
    return "told by its stand-in";
}

/* The name has the time in it, too: an earlier process of the same number may have left a name behind. */
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "/unet-nccl-%d-%lld-%ld", (int)getpid(),
             (long long)now.tv_sec, now.tv_nsec);
    Shared *shared = map(id->internal, O_CREAT | O_EXCL);
    if (shared == nullptr)
        return ncclSystemError;
    munmap(shared, sizeof *shared);
    return ncclSuccess;
}

/* Who comes last takes the name away. */
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id, int rank) {
    Shared *shared = size > MOST ? nullptr : map(id.internal, 0);
    if (shared == nullptr)
        return ncclSystemError;
    (void)cudaGetDevice(&shared->device[rank]);
    shared->process[rank] = getpid();
    if (++shared->joined == size)
        shm_unlink(id.internal);
    while (shared->joined < size)
        usleep(1000);
    *comm = new ncclComm{shared, rank, size, {ncclSuccess}, {0}};
    for (int r = 0; r < size; r++)
        if (r != rank && shared->device[r] == shared->device[rank])
            return ncclInvalidUsage;
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
    *error = comm->error;
    return ncclSuccess;
}

/* NCCL would wait without end. */
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    for (int waited = 0; comm->held > 0; waited++) {
        if (waited > 5000)
            misused("a communicator ends while graphs hold its calls");
        usleep(1000);
    }
    munmap(comm->shared, sizeof *comm->shared);
    delete comm;
    return ncclSuccess;
}

/* Queued work finds an error, and ends. */
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    comm->error = ncclSystemError;
    return ncclCommDestroy(comm);
}

ncclResult_t ncclGroupStart(void) {
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
    if (depth == 0)
        misused("a group ends that has not begun");
    if (--depth > 0 || group.empty())
        return ncclSuccess;
    static const char *const stops = getenv("UNET_NCCL_STOPS");
    static int groups;
    if (stops != nullptr && atoi(stops) == group[0].comm->rank && ++groups == 3)
        raise(SIGSTOP);
    const std::vector<Call> calls = std::move(group);
    group.clear();
    for (const Call &c : calls)
        if (c.comm != calls[0].comm || c.stream != calls[0].stream)
            misused("a group of several streams or communicators");
    const ncclComm_t comm = calls[0].comm;
    comm->held++;
    const std::shared_ptr<void> holds(nullptr, [=](void *) { comm->held--; });
    shim::submit(calls[0].stream, [calls, holds] { run_calls(calls); });
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *at, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    float *numbers = static_cast<float *>(const_cast<void *>(at));
    return queue({Kind::SEND, numbers, count, peer, comm, stream}, type);
}

ncclResult_t ncclRecv(void *at, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return queue({Kind::RECEIVE, static_cast<float *>(at), count, peer, comm, stream}, type);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
    if (from != to || op != ncclSum)
        misused("only sums in place are there");
    return queue({Kind::ALL_REDUCE, static_cast<float *>(to), count, 0, comm, stream}, type);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
    if (from != to || op != ncclSum)
        misused("only sums in place are there");
    return queue({Kind::REDUCE, static_cast<float *>(to), count, root, comm, stream}, type);
}
