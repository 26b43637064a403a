// What lies between the products of a layer: norms, rotation, and writing to the cache.

#include "vectors.h"

// Mirrored by NormArguments in kernels.py.
struct NormArguments {
    const void *hidden; // [rows, width]
    const void *weight; // [width]
    void *output;       // [rows, width]
    int64_t num_rows, width;
    float epsilon;
};
extern "C" int64_t sizeof_NormArguments() { return sizeof(NormArguments); }

template <typename T>
INLINE void norm_row(const T *hidden, const T *weight, T *output, long width, float epsilon) {
    floats squares = {};
    for (long i = 0; i < width; i += LANES) {
        floats part = load_some(hidden + i, width - i);
        squares += part * part;
    }
    float scale = 1.0f / std::sqrt(sum(squares) / width + epsilon);
    for (long i = 0; i < width; i += LANES) {
        T rounded[LANES]; // as transformers does before it applies the weight
        store(rounded, load_some(hidden + i, width - i) * scale);
        store_some(output + i, load(rounded) * load_some(weight + i, width - i), width - i);
    }
}

template <typename T> INLINE void norm(const NormArguments &a) {
    for (long row = 0; row < a.num_rows; row++)
        norm_row((const T *)a.hidden + row * a.width, (const T *)a.weight,
                 (T *)a.output + row * a.width, a.width, a.epsilon);
}

extern "C" void norm_float32(const NormArguments *a) { norm<float>(*a); }
extern "C" void norm_bfloat16(const NormArguments *a) { norm<bf16>(*a); }

// Mirrored by TurnArguments in kernels.py.
struct TurnArguments {
    void *heads;         // [tokens, heads that turn and others behind them, dims], changed in place
    const void *weights; // of norms before the rotation, [heads that turn, dims], or null
    const void *cosines, *sines; // [tokens, num_turning]
    int64_t num_tokens, token_stride, num_heads, dims, num_turning;
    float epsilon;
};
extern "C" int64_t sizeof_TurnArguments() { return sizeof(TurnArguments); }

template <typename T> INLINE void turn(const TurnArguments &a) {
    long half = a.num_turning / 2;
    for (long token = 0; token < a.num_tokens; token++) {
        const T *cosines = (const T *)a.cosines + token * a.num_turning;
        const T *sines = (const T *)a.sines + token * a.num_turning;
        for (long index = 0; index < a.num_heads; index++) {
            T *head = (T *)a.heads + token * a.token_stride + index * a.dims;
            if (a.weights)
                norm_row(head, (const T *)a.weights + index * a.dims, head, a.dims, a.epsilon);
            for (long i = 0; i < half; i += LANES) {
                T *low = head + i, *high = head + half + i;
                floats first = load_some(low, half - i), second = load_some(high, half - i);
                floats cosine = load_some(cosines + i, half - i);
                floats sine = load_some(sines + i, half - i);
                store_some(low, first * cosine - second * sine, half - i);
                store_some(high, second * cosine + first * sine, half - i);
            }
        }
    }
}

extern "C" void turn_float32(const TurnArguments *a) { turn<float>(*a); }
extern "C" void turn_bfloat16(const TurnArguments *a) { turn<bf16>(*a); }

// Mirrored by WriteArguments in kernels.py; sizes and strides in bytes.
struct WriteArguments {
    const char *key, *value; // of each token, [kv_heads, dims], at the strides below
    char *entries;           // [slots, kv_heads, key and value]
    const int64_t *slots;    // [tokens]
    int64_t num_tokens, num_kv_heads, key_size, value_size;
    int64_t key_token_stride, key_head_stride, value_token_stride, value_head_stride;
};
extern "C" int64_t sizeof_WriteArguments() { return sizeof(WriteArguments); }

extern "C" void write_entries(const WriteArguments *a) {
    long size = a->key_size + a->value_size;
    for (long token = 0; token < a->num_tokens; token++) {
        char *entry = a->entries + a->slots[token] * a->num_kv_heads * size;
        const char *key = a->key + token * a->key_token_stride;
        const char *value = a->value + token * a->value_token_stride;
        for (long head = 0; head < a->num_kv_heads; head++, entry += size) {
            memcpy(entry, key + head * a->key_head_stride, a->key_size);
            memcpy(entry + a->key_size, value + head * a->value_head_stride, a->value_size);
        }
    }
}
