/* recorded.h - made by record.py with PyTorch 1.13.0a0; not edited by hand. */
#ifndef RECORDED_H
#define RECORDED_H

#include <stdint.h>

/* manual_seed(42); empty(8).uniform_(-0.3, 0.7) */
static const uint32_t recorded_uniform[] = {0x3f150f99u, 0x3f1d70e6u, 0x3da9b478u, 0x3f28c841u,
                                            0x3db93ce8u, 0x3e9a0ef4u, 0xbd31e110u, 0x3efcbe8eu};

/* manual_seed(5); empty(7).normal_(0, 0.5), then the next uniform number */
static const uint32_t recorded_normal7[] = {0xbe793b54u, 0xbe9a940du, 0xbe8edf65u, 0x3eaae2dfu,
                                            0xbdca272fu, 0x3f78ad21u, 0xbf336af9u, 0x3f7b1e07u};

/* manual_seed(5); empty(20).normal_(0, 0.5), then the next uniform number */
static const uint32_t recorded_normal20[] = {
    0x3f6bd177u, 0x3e84d5cau, 0xbf5b203du, 0xbf59c6ccu, 0xbd84c64bu, 0xbe9a0d50u, 0x3d947a81u,
    0xbd996c4bu, 0x3fa7553bu, 0xbe5e3842u, 0x3e346550u, 0xbd043391u, 0x3f3dd0bau, 0x3e7cf28fu,
    0x3dff3335u, 0x3f5f9ebau, 0x3ebea9b4u, 0x3c81aaa9u, 0xbf1611acu, 0xbf40e36cu, 0x3f783e89u};

/* randperm and random_split */
static const int32_t recorded_permutation[] = {
    15, 17, 9, 12, 7, 1, 19, 3, 4, 11, 18, 8, 2, 14, 16, 0, 10, 13, 6, 5,
};
static const int32_t recorded_split[] = {
    12, 9, 0, 10, 6, 17, 3, 2, 1, 16, 15, 14, 13, 22, 11, 20, 7, 5, 18, 19, 4, 8, 21,
};

/* Three epochs of DataLoader(range(13), shuffle=True) after manual_seed(9), */
static const int32_t recorded_order[] = {
    10, 8, 12, 9, 7,  11, 5, 6, 0,  4, 2, 3, 1, 1,  7, 9, 11, 0,  4, 8,
    6,  5, 10, 3, 12, 2,  1, 4, 11, 2, 3, 8, 7, 10, 6, 9, 0,  12, 5,
};
/* and with 1000 numbers drawn in between. */
static const int32_t recorded_order_after[] = {
    10, 1, 0, 8,  7, 6, 12, 9,  2,  11, 5, 3, 4, 7, 5, 8,  10, 6, 0, 11,
    9,  3, 2, 12, 1, 4, 9,  12, 10, 0,  6, 3, 1, 2, 4, 11, 8,  5, 7,
};

/* Initial weights: checksum per tensor, weight and bias in turn, seeds 0, 42 and 7. */
static const uint64_t recorded_weights_0[] = {
    0x844c571ce389058eu, 0x0e6ca9cb61949c3cu, 0x302a5e3265b822a4u, 0x6a3312beb796d659u,
    0xa81faa39b7f2c29du, 0x97ff9a9079cb429bu, 0xddad84498e456633u, 0x29b594c28b1d829fu,
    0xe6ea87a34d5f8714u, 0x8d2e713d3291f4a2u, 0x5c70fc5351f5c0a9u, 0x9c27b6c8e2609512u,
};
static const uint64_t recorded_weights_42[] = {
    0xe71f776d3eb0d1edu, 0xd24fe2bcb2d8a407u, 0x27ad532b505500fcu, 0xb812272c581d19d3u,
    0xaa6e920f31ad000au, 0xb15ff052886030c9u, 0x7acb6b36351f051du, 0xbf59e65539c7c837u,
    0x9592ba1ce9d57165u, 0x136942c5b8043792u, 0xde608ef0dbec106cu, 0x1dbc1eeefeef8a8cu,
};
static const uint64_t recorded_weights_7[] = {
    0x652e7d4dcc22727bu, 0x044239d2df5a29e4u, 0xaf81dedce832618au, 0x606c0d2e3a4087ebu,
    0xfb6c03838eea0130u, 0xad6ceeb1687025ccu, 0x2bfe4f435e5911c3u, 0xa1d10b4a6a4887e3u,
    0xf7eff98abbd46c9cu, 0x2ced6648fbdddfbfu, 0x1dbd10643ae79b43u, 0xdd3b30e54b750905u,
};

#endif
