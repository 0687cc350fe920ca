#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `count` bytes, continued from `crc`.
///
/// Begin with 0. `crc32c(crc32c(0, a), b)` equals the checksum of `a` followed by `b`.
/// Uses the processor's instruction where there is one (SSE 4.2, ARMv8 CRC), a table elsewhere.
uint32_t vellum_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same by table alone, so that a test can hold the two against each other.
uint32_t vellum_crc32c_table(uint32_t crc, const void *bytes, size_t count);

#endif
