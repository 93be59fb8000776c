/* channel_tables.cuh - attention over channels and its gradient share tables, which have a row for each
 * channel of q in a head and a column for each channel of k, row by row.
 *
 * A block makes a tile of a table from a band of points, or a tile of a map from a table. */
#include "attentions.cuh"

/* BEGIN */
/* Behind a table there is a number for each row and one for each column. */
template <int ROWS, int COLUMNS> struct ChannelTable {
    static constexpr int row_tiles = (ROWS + ATTENTION_TILE - 1) / ATTENTION_TILE,
                         column_tiles = (COLUMNS + ATTENTION_TILE - 1) / ATTENTION_TILE;
    static constexpr long elements = (long)ROWS * COLUMNS + ROWS + COLUMNS;
    real *of;

    __device__ real *by_row() const { return of + (long)ROWS * COLUMNS; }
    __device__ real *by_column() const { return by_row() + ROWS; }
};

/* The table of a head with this number, of `tables` of each head. */
template <int ROWS, int COLUMNS>
DEVICE ChannelTable<ROWS, COLUMNS> channel_table(real *scratch, long head, int tables, int number) {
    return {scratch + (head * tables + number) * ChannelTable<ROWS, COLUMNS>::elements};
}

/* The channels of a head in a map of so many points. */
DEVICE AttentionHead channel_head(const stored *x, int block, AttentionAxes map, int n, int g,
                                  int channels) {
    return attention_head(x, block, {n, g, 0, 0}, {map, map, {0, 0, 0}}, channels);
}

/* Sums over a band of points: products of the channels of a tile, and, if SQUARES, the squares of channels.
 */
template <int SQUARES, int ROWS, int COLUMNS>
DEVICE void channel_sums(ChannelTable<ROWS, COLUMNS> table, int tile, AttentionHead rows,
                         AttentionHead columns, unsigned band, unsigned bands) {
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    const int first_row = tile / table.column_tiles * ATTENTION_TILE,
              first_column = tile % table.column_tiles * ATTENTION_TILE, row = threadIdx.x / ATTENTION_SIDE,
              lane = threadIdx.x % ATTENTION_SIDE;
    const unsigned tiles = (rows.points + ATTENTION_TILE - 1) / ATTENTION_TILE,
                   end = part_start(tiles, bands, band + 1);
    AttentionProducts products = {};
    real squares = 0; /* of a row; of the next TILE threads, of a column */
    for (unsigned i = part_start(tiles, bands, band); i < end; i++) {
        __syncthreads();
        attention_fetch(left, rows, (int)i * ATTENTION_TILE, first_row);
        attention_fetch(right, columns, (int)i * ATTENTION_TILE, first_column);
        __syncthreads();
        for (int p = 0; p < ATTENTION_TILE; p++) {
            for (int m = 0; m < ATTENTION_SHARE; m++)
                products.of[m] += left[p][row] * right[p][lane + m * ATTENTION_SIDE];
            if (SQUARES && threadIdx.x < 2 * ATTENTION_TILE) {
                const int c = threadIdx.x % ATTENTION_TILE;
                const real x = threadIdx.x < ATTENTION_TILE ? left[p][c] : right[p][c];
                squares += x * x;
            }
        }
    }
    for (int m = 0; m < ATTENTION_SHARE; m++) {
        const int column = first_column + lane + m * ATTENTION_SIDE;
        if (first_row + row < ROWS && column < COLUMNS)
            table.of[(long)(first_row + row) * COLUMNS + column] = products.of[m];
    }
    const int c = threadIdx.x % ATTENTION_TILE;
    if (SQUARES && threadIdx.x < ATTENTION_TILE && first_column == 0 && first_row + c < ROWS)
        table.by_row()[first_row + c] = squares;
    if (SQUARES && threadIdx.x >= ATTENTION_TILE && threadIdx.x < 2 * ATTENTION_TILE && first_row == 0 &&
        first_column + c < COLUMNS)
        table.by_column()[first_column + c] = squares;
}

/* The sum of what the tables of all bands have at a place. */
DEVICE real channel_sum(const real *from, long apart, int bands) {
    real sum = 0;
    for (int band = 0; band < bands; band++)
        sum += from[band * apart];
    return sum;
}

/* The sum, or the largest, of what the first COUNT threads of a block have; a NaN is more than any number.
 */
DEVICE real channel_total(real x, int count) {
    SHARED(real, part, [THREADS]);
    __syncthreads();
    part[threadIdx.x] = x;
    __syncthreads();
    real sum = 0;
    for (int i = 0; i < count && i < THREADS; i++)
        sum += part[i];
    return sum;
}

DEVICE real channel_largest(real x, int count) {
    SHARED(real, part, [THREADS]);
    __syncthreads();
    part[threadIdx.x] = x;
    __syncthreads();
    real largest = part[0];
    for (int i = 1; i < count && i < THREADS; i++)
        largest = part[i] > largest || part[i] != part[i] ? part[i] : largest;
    return largest;
}

/* Turns a row, times a factor, into shares, which add up to 1.  A thread has every THREADS-th column. */
DEVICE void channel_softmax(real *share, const real *product, int columns, real factor) {
    real largest = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j < columns; j += THREADS) {
        const real x = factor * product[j];
        largest = x > largest || x != x ? x : largest;
    }
    largest = channel_largest(largest, columns);
    for (int j = threadIdx.x; j < columns; j += THREADS)
        sum += share[j] = expf(factor * product[j] - largest);
    sum = channel_total(sum, columns);
    for (int j = threadIdx.x; j < columns; j += THREADS)
        share[j] /= sum;
}

/* Makes the weights of a row: shares, or the products times the factor. */
template <int SHARES>
DEVICE void channel_shares(real *share, const real *product, int columns, real factor) {
    if (SHARES > 0)
        channel_softmax(share, product, columns, factor);
    else
        for (int j = threadIdx.x; j < columns; j += THREADS)
            share[j] = factor * product[j];
}

/* A table, whose rows and columns are read as `row` and `column` say: turned or not. */
struct ChannelFactors {
    const real *of;
    int row, column, rows, columns; /* distances and extents */
};

/* Stores a tile of points and rows of factors: sums over the columns of factors times x, less `along` times
 * the channel of `self`.  The last head has the channels that only pad, which are 0. */
DEVICE void channel_store(stored *out, int block, AttentionHead x, ChannelFactors f, AttentionHead self,
                          const real *along, int n, int g, int first, int tile, bool is_last) {
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE;
    AttentionProducts sums = {};
    for (int column = 0; column < f.columns; column += ATTENTION_TILE) {
        __syncthreads();
        attention_fetch(left, x, first, column);
        for (int i = threadIdx.x; i < ATTENTION_TILE * ATTENTION_TILE; i += THREADS) {
            const int r = tile * ATTENTION_TILE + i / ATTENTION_TILE, c = column + i % ATTENTION_TILE;
            right[i / ATTENTION_TILE][i % ATTENTION_TILE] =
                r < f.rows && c < f.columns ? f.of[(long)r * f.row + (long)c * f.column] : 0;
        }
        __syncthreads();
        for (int c = 0; c < ATTENTION_TILE; c++)
            for (int m = 0; m < ATTENTION_SHARE; m++)
                sums.of[m] += left[row][c] * right[lane + m * ATTENTION_SIDE][c];
    }
    const int point = first + row;
    if (point >= x.points)
        return;
    stored *const to = out + ((long)n * x.points + point) * block;
    for (int m = 0; m < ATTENTION_SHARE; m++) {
        const int c = tile * ATTENTION_TILE + lane + m * ATTENTION_SIDE;
        if (c < f.rows)
            store(to, g * f.rows + c,
                  along != NULL ? sums.of[m] - along[c] * attention_number(self, point, c) : sums.of[m]);
    }
    for (int c = (g + 1) * f.rows + lane; is_last && tile == 0 && c < block; c += ATTENTION_SIDE)
        store(to, c, 0);
}
/* END */
