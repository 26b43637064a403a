// Sixteen single-precision numbers at a time, read from and written to float or bfloat16.
//
// GCC's and Clang's vector extensions, so that the compiler picks the instructions of the processor
// that it runs on. Arithmetic is in single precision whatever lies in memory.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

constexpr long LANES = 16;

typedef float floats __attribute__((vector_size(64)));
typedef int32_t ints __attribute__((vector_size(64)));
typedef uint32_t words __attribute__((vector_size(64)));
typedef uint16_t halves __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

// GCC has Clang's shuffle from 12 on; before, only its own.
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ints){__VA_ARGS__})
#endif

struct bf16 {
    uint16_t bits;
};

INLINE floats spread(float value) { return floats{} + value; }

INLINE floats load(const float *from) {
    floats value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE floats load(const bf16 *from) {
    halves half;
    memcpy(&half, from, sizeof half);
    return (floats)(__builtin_convertvector(half, words) << 16);
}

INLINE void store(float *to, floats value) { memcpy(to, &value, sizeof value); }

INLINE void store(bf16 *to, floats value) {
#if defined(__AVX512BF16__)
    __m256bh half = _mm512_cvtneps_pbh((__m512)value);
    memcpy(to, &half, sizeof half);
#else
    words bits = (words)value;
    bits += 0x7fff + ((bits >> 16) & 1); // to the nearest, ties to even
    halves half = __builtin_convertvector(bits >> 16, halves);
    memcpy(to, &half, sizeof half);
#endif
}

// Of `count` numbers, where that is fewer than 16, with zeros behind them.
template <typename T> INLINE floats load_some(const T *from, long count) {
    if (count >= LANES) return load(from);
    T some[LANES] = {};
    memcpy(some, from, count * sizeof(T));
    return load(some);
}

template <typename T> INLINE void store_some(T *to, floats value, long count) {
    if (count >= LANES) return store(to, value);
    T some[LANES];
    store(some, value);
    memcpy(to, some, count * sizeof(T));
}

INLINE float sum(floats v) {
    v += SHUFFLE(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v += SHUFFLE(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    v += SHUFFLE(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    return v[0] + v[1];
}

// The sum of each of sixteen, in its lane: four rounds that add halves of two side by side.
INLINE floats sums(floats v[LANES]) {
    for (int i = 0; i < 8; i++) {
        floats a = v[i], b = v[i + 8];
        v[i] = SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
               SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    }
    for (int i = 0; i < 4; i++) {
        floats a = v[i], b = v[i + 4];
        v[i] = SHUFFLE(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
               SHUFFLE(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
    }
    for (int i = 0; i < 2; i++) {
        floats a = v[i], b = v[i + 2];
        v[i] = SHUFFLE(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
               SHUFFLE(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
    floats a = v[0], b = v[1];
    return SHUFFLE(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30) +
           SHUFFLE(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}

INLINE float largest_of(floats v) {
    float largest = v[0];
    for (int i = 1; i < LANES; i++) largest = v[i] > largest ? v[i] : largest;
    return largest;
}

// e to the power of each, to two units in the last place (Cephes, Moshier 1989, expf).
INLINE floats exponential(floats x) {
    x = x > 88.0f ? spread(88.0f) : x;
    x = x < -87.0f ? spread(-87.0f) : x;
    const float shift = 12582912.0f; // 1.5 * 2^23: adding it rounds to a whole number
    floats shifted = x * 1.44269504f + shift;
    floats whole = shifted - shift;
    floats r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    floats p = spread(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    ints exponent = (ints)shifted - 0x4b400000 + 127;
    return p * (floats)(exponent << 23);
}
