#ifndef CSQLITECONFIG_WAITING_H
#define CSQLITECONFIG_WAITING_H

#include <stdint.h>

// Waiting for a word in memory that several processes have mapped: futex(2), and os_sync_wait_on_address on Apple platforms.

/// Returns once another thread or process wakes those who wait for the word, or at once if it is not `value`.
void vellum_wait_while(uint32_t *word, uint32_t value);

/// Wakes every thread of every process that waits for the word.
void vellum_wake_all(uint32_t *word);

#endif
