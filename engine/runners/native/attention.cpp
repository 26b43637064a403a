// Attention of rows with one query each over the paged cache, read where it lies.
//
// A key/value head is read once for the queries of its group. Scores of a row's whole context are
// kept, which at one query a row is little.

#include <omp.h>

#include "vectors.h"

// Counts and strides in elements; mirrored by DecodeArguments in kernels.py.
struct DecodeArguments {
    const void *query;   // [rows, heads, key_dim], heads and rows at the strides below
    const void *entries; // [blocks, block_size, kv_heads, key_dim + value_dim]
    void *output;        // [rows, heads, value_dim]
    const void *sinks;   // a score for each head, or null
    float *scores;       // for each thread, 4 times the longest context, rounded up to 16
    const int32_t *block_tables; // [rows, table_width]
    const int32_t *kv_lens;      // [rows]
    int64_t num_rows, table_width, block_size;
    int64_t num_heads, num_kv_heads, key_dim, value_dim;
    int64_t row_stride, head_stride; // of the query
    int64_t window;                  // tokens that a query sees; 0 for all
    float scaling, softcap;          // no softcap: 0
    int64_t num_scores;              // of each thread
    int32_t num_threads;
};
extern "C" int64_t sizeof_DecodeArguments() { return sizeof(DecodeArguments); }

constexpr int MOST_GROUP = 4; // queries that read a key together

// The context of one row in one head.
template <typename T> struct Context {
    const T *entries;
    const int32_t *table;
    long block_size, token_stride, first, end;
    int32_t next_block; // that is read once these are

    // Calls visit(place, index, ahead) for each token, index from 0 for the first that is seen;
    // `ahead` is a token of the block after it.
    template <typename Visit> inline __attribute__((always_inline)) void each(Visit visit) const {
        for (long token = first; token < end;) {
            long block = token / block_size, stop = (block + 1) * block_size;
            long ahead = stop < end ? table[block + 1] : next_block;
            if (stop > end) stop = end;
            const T *place = entries + (table[block] * block_size + token % block_size) * token_stride;
            long way = (ahead - table[block]) * block_size * token_stride;
            for (; token < stop; token++, place += token_stride)
                visit(place, token - first, place + way);
        }
    }
};

// Asks for a token's keys and values of all heads, which lie side by side: the heads read them in
// turn, at distances that the processor's own prefetching does not follow.
template <typename T> INLINE void prefetch(const T *token, long token_stride) {
    for (long i = 0; i < token_stride; i += 64 / (long)sizeof(T)) __builtin_prefetch(token + i, 0, 2);
}

// The products of queries and keys, sixteen keys at a time; room for as many behind the last.
template <typename T, int G, int DIMS>
INLINE void score(const Context<T> &context, const T *query, long head_stride, long dims,
                  float *scores, long room, bool is_first) {
    constexpr int PARTS = DIMS ? DIMS / LANES : 1;
    floats own[G][PARTS], dots[G][LANES] = {}; // the last sixteen may not all be there
    for (int g = 0; g < G; g++)
        for (int i = 0; i < PARTS; i++) own[g][i] = load(query + g * head_stride + i * LANES);
    long last = context.end - context.first - 1;
    context.each([&](const T *key, long index, const T *ahead) __attribute__((always_inline)) {
        if (is_first) prefetch(ahead, context.token_stride);
        floats dot[G] = {};
        if constexpr (DIMS > 0) {
            for (int i = 0; i < PARTS; i++) {
                floats part = load(key + i * LANES);
                for (int g = 0; g < G; g++) dot[g] += own[g][i] * part;
            }
        } else {
            for (long i = 0; i < dims; i += LANES) {
                floats part = load(key + i);
                for (int g = 0; g < G; g++) dot[g] += load(query + g * head_stride + i) * part;
            }
        }
        long lane = index % LANES;
        for (int g = 0; g < G; g++) dots[g][lane] = dot[g];
        if (lane == LANES - 1 || index == last)
            for (int g = 0; g < G; g++) store(scores + g * room + index - lane, sums(dots[g]));
    });
}

template <typename T, int G>
INLINE void weigh(const Context<T> &context, T *output, long dims, long offset,
                  const float *weights, long room) {
    for (long begin = 0; begin < dims; begin += 4 * LANES) {
        floats total[G][4] = {};
        if (dims - begin >= 4 * LANES) {
            context.each([&](const T *entry, long index, const T *) __attribute__((always_inline)) {
                for (int i = 0; i < 4; i++) {
                    floats part = load(entry + offset + begin + i * LANES);
                    for (int g = 0; g < G; g++) total[g][i] += weights[g * room + index] * part;
                }
            });
        } else {
            long parts = (dims - begin) / LANES;
            context.each([&](const T *entry, long index, const T *) __attribute__((always_inline)) {
                for (long i = 0; i < parts; i++) {
                    floats part = load(entry + offset + begin + i * LANES);
                    for (int g = 0; g < G; g++) total[g][i] += weights[g * room + index] * part;
                }
            });
        }
        for (int g = 0; g < G; g++)
            for (long i = 0; i < 4 && begin + i * LANES < dims; i++)
                store(output + g * dims + begin + i * LANES, total[g][i]);
    }
}

// Scores to weights that add up to 1, or to less with a sink beside them.
INLINE void softmax(float *scores, long count, float scaling, float softcap, const float *sink) {
    long padded = (count + LANES - 1) / LANES * LANES;
    if (softcap > 0)
        for (long i = 0; i < count; i++)
            scores[i] = std::tanh(scores[i] * scaling / softcap) * softcap / scaling;
    for (long i = count; i < padded; i++) scores[i] = -INFINITY;
    floats most = load(scores);
    for (long i = LANES; i < padded; i += LANES) {
        floats next = load(scores + i);
        most = next > most ? next : most;
    }
    float largest = largest_of(most) * scaling;
    if (sink && *sink > largest) largest = *sink;
    floats totals = {};
    for (long i = 0; i < padded; i += LANES) {
        floats weights = exponential(load(scores + i) * scaling - largest);
        store(scores + i, weights);
        totals += weights;
    }
    float total = sum(totals);
    if (sink) total += std::exp(*sink - largest);
    float share = 1.0f / total;
    for (long i = 0; i < padded; i += LANES) store(scores + i, load(scores + i) * share);
}

template <typename T, int G>
INLINE void attend_group(const DecodeArguments &a, const Context<T> &context, long row, long head) {
    float *scores = a.scores + omp_get_thread_num() * a.num_scores;
    const T *query = (const T *)a.query + row * a.row_stride + head * a.head_stride;
    T *output = (T *)a.output + (row * a.num_heads + head) * a.value_dim;
    long count = context.end - context.first, room = (count + LANES - 1) / LANES * LANES;
    if (a.key_dim == 64)
        score<T, G, 64>(context, query, a.head_stride, 64, scores, room, !head);
    else
        score<T, G, 0>(context, query, a.head_stride, a.key_dim, scores, room, !head);
    for (int g = 0; g < G; g++) {
        const float *sink = a.sinks ? (const float *)a.sinks + head + g : nullptr;
        softmax(scores + g * room, count, a.scaling, a.softcap, sink);
    }
    weigh<T, G>(context, output, a.value_dim, a.key_dim, scores, room);
}

template <typename T>
static void attend_head(const DecodeArguments &a, long row, long kv_head) {
    long dims = a.key_dim + a.value_dim, group = a.num_heads / a.num_kv_heads;
    long end = a.kv_lens[row], first = a.window && end > a.window ? end - a.window : 0;
    long next = row + 1 < a.num_rows ? row + 1 : row, next_end = a.kv_lens[next];
    long next_first = a.window && next_end > a.window ? (next_end - a.window) / a.block_size : 0;
    Context<T> context = {(const T *)a.entries + kv_head * dims,
                          a.block_tables + row * a.table_width,
                          a.block_size,
                          a.num_kv_heads * dims,
                          first,
                          end,
                          a.block_tables[next * a.table_width + next_first]};
    long head = kv_head * group, stop = head + group;
    for (; stop - head >= MOST_GROUP; head += MOST_GROUP)
        attend_group<T, MOST_GROUP>(a, context, row, head);
    if (stop - head == 3) attend_group<T, 3>(a, context, row, head);
    if (stop - head == 2) attend_group<T, 2>(a, context, row, head);
    if (stop - head == 1) attend_group<T, 1>(a, context, row, head);
}

template <typename T> static void attend(const DecodeArguments &a) {
    long num_parts = a.num_rows * a.num_kv_heads;
#pragma omp parallel for num_threads(a.num_threads) if (a.num_threads > 1) schedule(dynamic)
    for (long part = 0; part < num_parts; part++)
        attend_head<T>(a, part / a.num_kv_heads, part % a.num_kv_heads);
}

extern "C" void attend_float32(const DecodeArguments *a) { attend<float>(*a); }
extern "C" void attend_bfloat16(const DecodeArguments *a) { attend<bf16>(*a); }
