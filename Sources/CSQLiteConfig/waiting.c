#include "Waiting.h"

#if defined(__linux__)

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void vellum_wait_while(uint32_t *word, uint32_t value) {
    while (syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0) != 0 && errno == EINTR) {
    }
}

void vellum_wake_all(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0); }

#elif defined(__APPLE__)

#include <errno.h>
#include <os/os_sync_wait_on_address.h>

void vellum_wait_while(uint32_t *word, uint32_t value) {
    while (os_sync_wait_on_address(word, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_SHARED) < 0 && errno == EINTR) {
    }
}

void vellum_wake_all(uint32_t *word) { os_sync_wake_by_address_all(word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_SHARED); }

#endif
