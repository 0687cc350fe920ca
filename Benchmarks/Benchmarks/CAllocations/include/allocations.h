#ifndef VELLUM_BENCHMARKS_ALLOCATIONS_H
#define VELLUM_BENCHMARKS_ALLOCATIONS_H

#include <stdint.h>

/// How many blocks the calling thread has asked the allocator for since it began; 0 for ever where they are not counted,
/// which is everywhere but on glibc.
uint64_t allocations_of_this_thread(void);

/// What no other thread is called. Not `pthread_self`, of which compilers believe that it never changes while a function runs.
uintptr_t name_of_this_thread(void);

#endif
