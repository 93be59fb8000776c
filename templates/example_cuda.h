/* example_cuda.h - sizes with which every template of cuda/ compiles on its own: 3x3 windows over 8x8
 * points, 16 channels everywhere; segments add an image of 3. */
/* clang-format off */
#define SIZES                                                                                              \
    enum {                                                                                                 \
        C = 16, CI = 19, CO = 16, C0 = 0, CS = 16, SEGMENTS = EXAMPLE_SEGMENTS, N = 2, K = 16, TAPS = 9,   \
        ID = 1, IH = 8, IW = 8, D = 1, H = 8, W = 8, KD = 1, KH = 3, KW = 3, SD = 1, SH = 1, SW = 1,       \
        GROUPS = 16, BATCH = 1, AFFINE = 1, POINTS = 64, INNER = 171, SYNC = 0, NUMBERS = 16, VARIANCES = 1, RANKS = 4, TRANSPOSED = 0, PD = 0, PH = 1, PW = 1, P_STAGED = 0, X_STAGED = 1, SCRATCH = 1 << 30, LEAKY = 1, LEARNT = 1, T_STAGED = 1, PARAMETERS = 0, ARGMAX_BITS = 0, \
        MAPPED = 1, MAP_STAGED = 1, INSIDE = 0, SHARED = 0, GROUP = 2, LEVELS = 2, APART = 1008, PLACE = 16, BUCKET = 1, DOUBLES = 0, BELOW_ZERO = 1, BIAS = 1, RELU = 1, MASK = 1, ADDED = 1, ACCUMULATE = 1, BANDS = 8, COUNT = 1001, DECOUPLED = 0, NESTEROV = 0, AMSGRAD = 1, CENTERED = 1, CLIPS = 1, AVERAGED = 1, SHARDED = 1, PROCESSES = 2, RUNS = 2, TENSORS = 1, SCALED = 1, GROWTH_INTERVAL = 2000, CLASSES = 16, IGNORE = -1, WEIGHTED = 0, FIRST = 0, SQUARED = 0, JOINT = 0, COUNTED = 0, \
        BIAS_AT = 3456, PBIAS = 16, BANDS_AT = 3456, SUM_BANDS = 4, SUMMED = 1, FINISHED = 0, WORKSPACE_AT = 16384, SLIDES = 0, ROWS = 2, DENSE = 4, SAMPLED = 2, \
        STEP_D = 1, STEP_H = 1, STEP_W = 1, OFFSET_D = 0, OFFSET_H = 0, OFFSET_W = 0, UNIT_D = 1, UNIT_H = 2, UNIT_W = 2, LINEAR = 1, RMS = 0, ZERO = 0, FOLD = 2, SPLITS = 4, NUMBER = 1, CODE_BITS = 8, ZEROS = 1, SIGNED = 0, COSINES_FIRST = 0, EVALUATION = 0, Y_STAGED = 0, BY_CHANNEL = 0, BY_POINT = 1, RIGHT = 0, BY_INPUT = 1, BY_WEIGHT = 1, BY_BIAS = 1, BEFORE_D = 0, BEFORE_H = 2, BEFORE_W = 1, BORDER_D = 0, BORDER_H = 1, BORDER_W = 2, WHICH = 14, LARGER = 1, CV = 16, HEADS = 2, NORMALIZE = 1, SOFTMAX = 1, TEMPERED = 1, CAUSAL = 1, PAIRS = 0, QUERIES = 64, KEYS = 64, WINDOWS = 1, QUERY_D = 1, QUERY_H = 8, QUERY_W = 8, KEY_D = 1, KEY_H = 8, KEY_W = 8, SHIFT_D = 0, SHIFT_H = 4, SHIFT_W = 4, CB = 16, BD = 1, BH = 1, BW = 1, \
        LD = 1, LH = 1, LW = 1, DENSE_AT = 32768, SAMPLED_AT = 65536                                      \
    };                                                                                                     \
    [[maybe_unused]] constexpr long RUN[] = {0, 500, 512, 1000}, AT[] = {0, 64}, SPLIT[] = {0, 1, 16, 0, 1, 1, 1, 1, 1, 1, 2, 1, 8, 3, 1, 3, 1, 8, 2, 1}, TENSOR[] = {0, 0, 500, 0, 2, 512, 0, 528}; \
    [[maybe_unused]] constexpr double WEIGHT = 1, WEIGHT_DECAY = 1e-4, BETA1 = 0.9, BETA2 = 0.999,         \
                                      EPSILON = 1e-8, BETA = 1, RANGE = 1, MOMENTUM = 0.9, DAMPENING = 0, ALPHA = 0.99, CLIP = 1, LIMIT = 1, AVERAGE = 0.999, SLOPE = 0.01, LEAST_SQUARE = 0.0189, BEYOND = 1, FIRST_NUMBER = 1, SECOND_NUMBER = 1, TIMES = 2, RATE = 0.5, TERM = 1, SMOOTHING = 0.1, GAMMA = 2, THRESHOLD = 0.7, SHARE = 0.0625, LEAST = -1, SMOOTH = 1e-6, OVER_BOTH = 2, UNDER_BOTH = 0, UNDER_PREDICTED = 1, UNDER_TRULY = 1, CLASS_WEIGHT[1] = {1}, VALUES[16] = {0};                       \
    [[maybe_unused]] constexpr int GRAPH[SEGMENTS] = {};                                                   \
    [[maybe_unused]] constexpr Filter FILTER[SEGMENTS] = {{0, 16, 16, 0, 16, 16, 0}};                      \
    [[maybe_unused]] constexpr Layout EXAMPLE_X, Y = EXAMPLE_Y, DX = EXAMPLE_DX, DY = EXAMPLE, M = EXAMPLE,     \
                                      A = EXAMPLE, B = EXAMPLE, P = EXAMPLE, T = EXAMPLE, DP = EXAMPLE, ARGMAX = EXAMPLE, CODES = EXAMPLE, DB = EXAMPLE_DB, MEAN = EXAMPLE, MEANS = EXAMPLE, SUMS = EXAMPLE, MAP = EXAMPLE, TERMS = EXAMPLE, SLOPES = EXAMPLE, ERRORS = EXAMPLE, QUERY = EXAMPLE, KEY = EXAMPLE, VALUE = EXAMPLE, LSE = EXAMPLE, PRODUCTS = EXAMPLE, DT = EXAMPLE, DQ = EXAMPLE, DK = EXAMPLE, DV = EXAMPLE
/* clang-format on */
#define EXAMPLE                                                                                            \
    { 16, 16, 1, 0, 1024, 1024, 1024, 128, 0 }

/* A map of one channel is padded to a vector. */
#define EXAMPLE_MAP                                                                                        \
    { 1, LANES, 1, 0, 64 * LANES, 64 * LANES, 64 * LANES, 8 * LANES, 0 }
#ifdef Y_IS_A_MAP
#define EXAMPLE_Y EXAMPLE_MAP
#else
#define EXAMPLE_Y EXAMPLE
#endif
#ifdef DX_IS_A_MAP
#define EXAMPLE_DX EXAMPLE_MAP
#else
#define EXAMPLE_DX EXAMPLE
#endif
#ifdef DB_IS_A_MAP
#define EXAMPLE_DB EXAMPLE_MAP
#else
#define EXAMPLE_DB EXAMPLE
#endif

/* An operand that is a list of segments has a list of layouts; a template says so before it includes this.
 */
#ifdef X_IS_SEGMENTS
#define EXAMPLE_SEGMENTS 2
#define EXAMPLE_X X[SEGMENTS] = {EXAMPLE, {3, 8, 1, 0, 512, 512, 512, 64, 0}}
#else
#define EXAMPLE_SEGMENTS 1
#define EXAMPLE_X X = EXAMPLE
#endif
