#include "CChecksum.h"

#include <string.h>

// The reversed Castagnoli polynomial.
#define POLYNOMIAL 0x82F63B78u

static uint32_t table[256];

__attribute__((constructor)) static void fill_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            uint32_t lowest = crc & 1u;
            crc = (crc >> 1) ^ (POLYNOMIAL & (0u - lowest));
        }
        table[byte] = crc;
    }
}

uint32_t vellum_crc32c_table(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    while (count--) {
        crc = (crc >> 8) ^ table[(crc ^ *next++) & 0xFF];
    }
    return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>
#define STEP_TARGET __attribute__((target("sse4.2")))
#define STEP8(crc, word) ((uint32_t)_mm_crc32_u64((crc), (word)))
#define STEP1(crc, byte) _mm_crc32_u8((crc), (byte))
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define STEP_TARGET
#define STEP8(crc, word) __crc32cd((crc), (word))
#define STEP1(crc, byte) __crc32cb((crc), (byte))
static int has_instruction(void) { return 1; }
#endif

#ifdef STEP8

// The instruction takes three cycles, and a new one can start every cycle, so long input is read as
// three interleaved streams. The checksums of the first two streams are then advanced over the
// bytes that follow them. A checksum is linear, so for a fixed length this is a table look-up.
#define STRIDE 2048

static uint32_t moved[4][256];

STEP_TARGET static uint32_t over_zeros(uint32_t crc) {
    for (int words = STRIDE / 8; words > 0; words--) {
        crc = STEP8(crc, 0);
    }
    return crc;
}

__attribute__((constructor)) static void fill_moved(void) {
    if (!has_instruction()) return;
    for (int bit = 0; bit < 32; bit++) {
        uint32_t (*row)[256] = &moved[bit / 8];
        uint32_t one = 1u << (bit % 8);
        uint32_t result = over_zeros(1u << bit);
        for (uint32_t below = 0; below < one; below++) {
            (*row)[one + below] = (*row)[below] ^ result;
        }
    }
}

static uint32_t over_stride(uint32_t crc) {
    return moved[0][crc & 0xFF]
        ^ moved[1][(crc >> 8) & 0xFF]
        ^ moved[2][(crc >> 16) & 0xFF]
        ^ moved[3][crc >> 24];
}

static uint64_t word_at(const uint8_t *place) {
    uint64_t word;
    memcpy(&word, place, 8);
    return word;
}

STEP_TARGET static uint32_t crc32c_instruction(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count >= 3 * STRIDE; count -= 3 * STRIDE, next += 3 * STRIDE) {
        uint32_t second = 0;
        uint32_t third = 0;
        for (size_t offset = 0; offset < STRIDE; offset += 8) {
            crc = STEP8(crc, word_at(next + offset));
            second = STEP8(second, word_at(next + STRIDE + offset));
            third = STEP8(third, word_at(next + 2 * STRIDE + offset));
        }
        crc = over_stride(over_stride(crc) ^ second) ^ third;
    }
    for (; count >= 8; count -= 8, next += 8) {
        crc = STEP8(crc, word_at(next));
    }
    while (count--) {
        crc = STEP1(crc, *next++);
    }
    return ~crc;
}

uint32_t vellum_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return has_instruction()
        ? crc32c_instruction(crc, bytes, count)
        : vellum_crc32c_table(crc, bytes, count);
}
#else
uint32_t vellum_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return vellum_crc32c_table(crc, bytes, count);
}
#endif
