#include "CChecksum.h"

#include <string.h>

// The reversed Castagnoli polynomial.
#define POLYNOMIAL 0x82F63B78u

static uint32_t table[256];

__attribute__((constructor)) static void fill_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1u)));
        table[byte] = crc;
    }
}

uint32_t vellum_crc32c_table(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    while (count--) crc = (crc >> 8) ^ table[(crc ^ *next++) & 0xFF];
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
STEP_TARGET static uint32_t crc32c_instruction(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = STEP8(crc, word);
    }
    while (count--) crc = STEP1(crc, *next++);
    return ~crc;
}

uint32_t vellum_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return has_instruction() ? crc32c_instruction(crc, bytes, count) : vellum_crc32c_table(crc, bytes, count);
}
#else
uint32_t vellum_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return vellum_crc32c_table(crc, bytes, count);
}
#endif
