#include "counting.h"

#include <stdio.h>
#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name)
#endif

/// A system call without an effect, whose argument appears in a list of system calls.
static void mark(const char *end, const char *name) {
  char path[200];
  snprintf(path, sizeof path, "/tally-row/%s/%s", end, name);
  (void)access(path, F_OK);
}

void counting_begin(const char *name) {
  mark("begin", name);
  CALLGRIND_ZERO_STATS;
}

void counting_end(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  mark("end", name);
}
