/* dataset_mask.c - `normalize "zscore_masked"`: normalised numbers are 0 beside the mask of their volume.
 *
 * Numbers beside the mask are 0 in the files, too, so a point between voxels that lie in the mask in part
 * has the sum of these, each less the mean: the share of the other voxels is given back.  Once the numbers
 * of the window are changed, a point that lies beside the mask by more than half is 0 again, as in nnU-Net.
 */
#include "dataset_reading.h"
#include "unet/layout.h"

bool dataset_is_masked(const UnetDataset *dataset, int32_t source) {
    const int32_t input = dataset->source[source].input;
    return input >= 0 && dataset->model->inputs[input].normalizing == UNET_NORMALIZED_MASKED;
}

/* The share of point X of the row that lies in the mask, of what of it lies in the volume. */
static float share_of(const Reading *at, int32_t source, int32_t x) {
    const Sample *sample = at->sample;
    const UnetVoxels *channel = &sample->volume[at->dataset->scale[source].first_series];
    const int32_t channels = at->dataset->source[source].channels, *size = channel->info.size;
    if (!at->turn.turns) {
        return unet_voxels_masked(channel, channels, sample->origin[2] + at->slice,
                                  sample->origin[0] + at->row, sample->origin[1] + at->begin[1] + x);
    }
    const Corners *corners = &at->scratch.corners[x];
    float share = 0;
    for (int i = 0; i < CORNERS; i++) {
        const int64_t voxel = corners->voxel[i], line = voxel / size[2];
        share += voxel >= 0 && unet_voxels_masked(channel, channels, (int32_t)(line / size[1]),
                                                  (int32_t)(line % size[1]), (int32_t)(voxel % size[2]))
                     ? corners->weight[i]
                     : 0;
    }
    return corners->inside > 0 ? share / corners->inside : 0;
}

void mask_row(const Reading *at, int32_t source, const UnetNormal *normal, float *value) {
    const int32_t count = reading_columns(at);
    for (int32_t x = 0; x < count; x++) {
        const float share = share_of(at, source, x);
        for (int32_t c = 0; c < at->dataset->source[source].channels; c++) {
            float *one = &value[c * count + x];
            *one = share > 0 ? *one + (1 - share) * (float)(normal->mean[c] / normal->deviation[c]) : 0;
        }
    }
}

/* ---- the window ------------------------------------------------------------------------------- */

/* Row (INTO, Y) of the window has begun; false: nothing of it shows the volume. */
static bool find_row(Reading *at, int32_t y) {
    at->slice = at->turn.turns ? at->into : at->scratch.map[2][at->into];
    at->row = at->turn.turns ? y : at->scratch.map[0][y];
    if (at->turn.turns) {
        turn_row(at);
    }
    return at->slice >= 0 && at->row >= 0;
}

static void mask_line(const Reading *at, int32_t source, bool shows, int32_t left, float *row) {
    const UnetLayout *layout = &at->dataset->program->inputs[at->dataset->source[source].input];
    for (int32_t x = 0; x < layout->size[2]; x++) {
        const int32_t from = shows ? at->scratch.map[1][left + x] : -1;
        const float inside = at->turn.turns && from >= 0 ? at->scratch.corners[from].inside : 1;
        if (from >= 0 && share_of(at, source, from) * inside >= 0.5F) {
            continue;
        }
        for (int32_t c = 0; c < layout->channels; c++) {
            row[c * layout->size[2] + x] = 0;
        }
    }
}

void mask_window(Reading *at, int32_t source) {
    const UnetDataset *dataset = at->dataset;
    const int32_t input = dataset->source[source].input;
    const UnetLayout *layout = &dataset->program->inputs[input];
    const int32_t front = (dataset->base[2] - layout->size[0]) / 2,
                  top = (at->size[0] - layout->size[1]) / 2, left = (at->size[1] - layout->size[2]) / 2;
    for (int32_t line = 0; line < layout->size[0] * layout->size[1]; line++) {
        const int32_t z = line / layout->size[1], y = line % layout->size[1];
        at->into = front + z;
        const bool shows = find_row(at, top + y);
        unet_layout_load_row(layout, at->inputs[input], at->n, z, y, at->scratch.normal);
        mask_line(at, source, shows, left, at->scratch.normal);
        unet_layout_store_row(layout, at->inputs[input], at->n, z, y, at->scratch.normal, layout->size[2],
                              NULL, NULL);
    }
}
