// Loaded before the C library (LD_PRELOAD): the clock is set back by $TALLY_SET_BACK seconds when somebody begins to wait.
// A wait for a time of that clock then takes so much longer, as the time that it waits for comes so much later; waits by
// the monotonic clock do not change. The file that $TALLY_FAULT_FIRED names is created then, and the file that
// $TALLY_FLUSHED names with each flush of a file's data.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The conditions that wait by the monotonic clock, by the hash of their address; more than any process here has.
static _Atomic(pthread_cond_t *) monotonic[1 << 16];
static atomic_int is_set_back;

static long seconds_back(void) {
  const char *text = getenv("TALLY_SET_BACK");
  return text ? strtol(text, NULL, 10) : 0;
}

static void create(const char *name) {
  const char *path = getenv(name);
  if (path) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static size_t place_of(const pthread_cond_t *condition) { return ((size_t)condition >> 4) & 0xFFFF; }

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
  int (*next)(pthread_cond_t *, const pthread_condattr_t *) = dlsym(RTLD_NEXT, "pthread_cond_init");
  clockid_t clock = CLOCK_REALTIME;
  if (attributes) pthread_condattr_getclock(attributes, &clock);
  if (clock == CLOCK_MONOTONIC) atomic_store(&monotonic[place_of(condition)], condition);
  return next(condition, attributes);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
  int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) =
    dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec later = *deadline;
  if (!atomic_exchange(&is_set_back, 1)) create("TALLY_FAULT_FIRED");
  if (atomic_load(&monotonic[place_of(condition)]) != condition) later.tv_sec += seconds_back();
  return next(condition, mutex, &later);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (!result && clock == CLOCK_REALTIME && atomic_load(&is_set_back)) time->tv_sec -= seconds_back();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

int fdatasync(int descriptor) {
  create("TALLY_FLUSHED");
  return (int)syscall(SYS_fdatasync, descriptor);
}
