// Makes every sync of a program take two milliseconds longer: LD_PRELOAD=slow_sync.so program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

static int slow(const char *name, int file) {
    usleep(2000);
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fdatasync(int file) { return slow("fdatasync", file); }
int fsync(int file) { return slow("fsync", file); }
