// Products of a few tokens with weights that were laid out for it: what a decoding pass is made of.
//
// Weights lie in panels of 32 outputs, input after input, so that a pass reads them once, in order.
// bfloat16 inputs lie in pairs, as the processor's dot product of pairs (VDPBF16PS) takes them.
// A tile of 8 tokens by 32 outputs stays in registers (Goto and van de Geijn 2008, section 4).

#include "vectors.h"

// Mirrored by LinearArguments in kernels.py.
struct LinearArguments {
    const void *hidden;  // [tokens, num_inputs]
    const void *weights; // [panels, num_inputs, 32]
    const void *bias;    // [num_outputs], or null; where `activation` gates, up to a whole panel
    const void *other;   // what is added, [tokens, num_outputs], or null
    void *output;        // [tokens, num_outputs]; half as many where `activation` gates
    int64_t num_tokens, num_inputs, num_outputs;
    int32_t activation; // 0 none; else every second 16 outputs are multiplied by it of those before
    int32_t num_threads;
};
extern "C" int64_t sizeof_LinearArguments() { return sizeof(LinearArguments); }

constexpr long PANEL = 2 * LANES;
constexpr int MOST_TOKENS = 8; // in a tile
enum Activation { NONE, SILU, GELU, GELU_TANH };

INLINE floats activate(floats x, int activation) {
    if (activation == SILU) return x / (1.0f + exponential(-x));
    if (activation == GELU_TANH) {
        floats inner = 1.59576912f * (x + 0.044715f * x * x * x);
        return x / (1.0f + exponential(-inner)); // tanh written as a logistic function
    }
    floats y;
    for (long i = 0; i < LANES; i++) y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
    return y;
}

template <int M>
INLINE void multiply(const float *hidden, long stride, const float *weights, long num_inputs,
                     floats total[M][2]) {
    for (long k = 0; k < num_inputs; k++, weights += PANEL) {
        floats first = load(weights), second = load(weights + LANES);
        for (int m = 0; m < M; m++) {
            floats x = spread(hidden[m * stride + k]);
            total[m][0] += x * first;
            total[m][1] += x * second;
        }
    }
}

template <int M>
INLINE void multiply(const bf16 *hidden, long stride, const bf16 *weights, long num_inputs,
                     floats total[M][2]) {
    for (long k = 0; k < num_inputs; k += 2, weights += 2 * PANEL) {
#if defined(__AVX512BF16__)
        __m512bh first, second;
        memcpy(&first, weights, 64);
        memcpy(&second, weights + 2 * LANES, 64);
        for (int m = 0; m < M; m++) {
            int32_t pair;
            memcpy(&pair, hidden + m * stride + k, 4);
            __m512bh x = (__m512bh)_mm512_set1_epi32(pair);
            total[m][0] = (floats)_mm512_dpbf16_ps((__m512)total[m][0], x, first);
            total[m][1] = (floats)_mm512_dpbf16_ps((__m512)total[m][1], x, second);
        }
#else
        words first, second;
        memcpy(&first, weights, 64);
        memcpy(&second, weights + 2 * LANES, 64);
        for (int m = 0; m < M; m++) {
            uint32_t pair;
            memcpy(&pair, hidden + m * stride + k, 4);
            floats even = (floats)(words{} + (pair << 16)), odd = (floats)(words{} + (pair & ~0xffffu));
            total[m][0] += even * (floats)(first << 16) + odd * (floats)(first & ~0xffffu);
            total[m][1] += even * (floats)(second << 16) + odd * (floats)(second & ~0xffffu);
        }
#endif
    }
}

template <typename T> INLINE void put(T *to, floats value, long count) {
    if (count > 0) store_some(to, value, count);
}

template <typename T> INLINE floats take(const void *from, long index, long count) {
    if (!from || count <= 0) return floats{};
    return load_some((const T *)from + index, count);
}

template <int M, typename T>
INLINE void finish(const LinearArguments &a, long token, long column, floats total[M][2]) {
    for (int m = 0; m < M; m++) {
        for (int half = 0; half < 2; half++) {
            long begin = column + half * LANES, count = a.num_outputs - begin;
            long place = (token + m) * a.num_outputs + begin;
            total[m][half] += take<T>(a.bias, begin, a.activation ? LANES : count);
            total[m][half] += take<T>(a.other, place, count);
            if (!a.activation) put((T *)a.output + place, total[m][half], count);
        }
        if (a.activation) {
            floats gated = activate(total[m][0], a.activation) * total[m][1];
            long place = (token + m) * (a.num_outputs / 2) + column / 2;
            put((T *)a.output + place, gated, a.num_outputs / 2 - column / 2);
        }
    }
}

template <int M, typename T> INLINE void tile(const LinearArguments &a, long token, long column) {
    floats total[M][2] = {};
    const T *hidden = (const T *)a.hidden + token * a.num_inputs;
    multiply<M>(hidden, a.num_inputs, (const T *)a.weights + column * a.num_inputs, a.num_inputs,
                total);
    finish<M, T>(a, token, column, total);
}

template <typename T> static void tile_of(long m, const LinearArguments &a, long token, long column) {
    switch (m) {
    case 1: return tile<1, T>(a, token, column);
    case 2: return tile<2, T>(a, token, column);
    case 3: return tile<3, T>(a, token, column);
    case 4: return tile<4, T>(a, token, column);
    case 5: return tile<5, T>(a, token, column);
    case 6: return tile<6, T>(a, token, column);
    case 7: return tile<7, T>(a, token, column);
    default: return tile<8, T>(a, token, column);
    }
}

template <typename T> static void linear(const LinearArguments &a) {
#pragma omp parallel for num_threads(a.num_threads) if (a.num_threads > 1)
    for (long column = 0; column < a.num_outputs; column += PANEL)
        for (long token = 0; token < a.num_tokens; token += MOST_TOKENS)
            tile_of<T>(a.num_tokens - token, a, token, column);
}

extern "C" void linear_float32(const LinearArguments *a) { linear<float>(*a); }
extern "C" void linear_bfloat16(const LinearArguments *a) { linear<bf16>(*a); }
