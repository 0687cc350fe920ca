#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// Returns the CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `count` bytes, continued from `crc`.
///
/// Begin with 0. `crc32c(crc32c(0, a), b)` equals the checksum of `a` followed by `b`. Uses the
/// processor's instruction where it is available (SSE 4.2, ARMv8 CRC), and a table elsewhere.
uint32_t vellum_crc32c(uint32_t crc, const void *bytes, size_t count);

/// Returns the same checksum, always computed with the table. Tests compare the two
/// implementations.
uint32_t vellum_crc32c_table(uint32_t crc, const void *bytes, size_t count);

#endif
