#define _GNU_SOURCE
#include "CSQLiteConfig.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#ifdef __APPLE__
#include <os/os_sync_wait_on_address.h>
#else
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

int vellum_sqlite_treat_as_data(void *connection, int isDefensive) {
    // sqlite.org/c3ref/c_dbconfig_defensive.html and sqlite.org/security.html, 2
    const struct {
        int option;
        int value;
    } settings[] = {
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},  {SQLITE_DBCONFIG_DEFENSIVE, isDefensive},
        {SQLITE_DBCONFIG_DQS_DML, 0},         {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    };
    for (size_t index = 0; index < sizeof settings / sizeof settings[0]; index++) {
        int code = sqlite3_db_config(
            (sqlite3 *)connection,
            settings[index].option,
            settings[index].value,
            (int *)NULL);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

long long vellum_room(int file) {
    struct stat status;
    if (fstat(file, &status) != 0) return -1;
#ifdef __APPLE__
    if (status.st_size < status.st_blocks * 512) return status.st_blocks * 512;
#endif
    return status.st_size;
}

int vellum_reserve(int file, long long present, long long size) {
#ifdef __APPLE__
    // What was reserved before is behind the end of the file.
    long long room = vellum_room(file);
    if (room < 0) return errno;
    if (present < room) present = room;
#endif
    if (size <= present) return 0;
    int result;
    do {
#ifdef __APPLE__
        fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)(size - present), 0};
        result = fcntl(file, F_PREALLOCATE, &store);
#else
        result = fallocate(file, 0, (off_t)present, (off_t)(size - present));
#endif
    } while (result != 0 && errno == EINTR);
    if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return 0;
    return errno;
}

int vellum_rename_new(const char *path, const char *target) {
#ifdef __APPLE__
    if (renamex_np(path, target, RENAME_EXCL) == 0) return 0;
#else
    // RENAME_NOREPLACE
    if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, 1) == 0) return 0;
#endif
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? ENOTSUP : errno;
}

void vellum_wait(const void *word, unsigned int expected, long long milliseconds) {
#ifdef __APPLE__
    (void)os_sync_wait_on_address_with_timeout(
        (void *)word,
        expected,
        4,
        OS_SYNC_WAIT_ON_ADDRESS_SHARED,
        OS_CLOCK_MACH_ABSOLUTE_TIME,
        (unsigned long long)milliseconds * 1000000);
#else
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, expected, &time, NULL, 0);
#endif
}

void vellum_wake(void *word) {
#ifdef __APPLE__
    (void)os_sync_wake_by_address_all(word, 4, OS_SYNC_WAKE_BY_ADDRESS_SHARED);
#else
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
#endif
}
