#pragma once

#ifdef __linux__
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Swift imports the system's C library without its extensions; every version in use has these four.
int dup3(int oldfd, int newfd, int flags);
int fallocate(int fd, int mode, off_t offset, off_t len);
int sync_file_range(int fd, off_t offset, off_t nbytes, unsigned int flags);
int pthread_setname_np(pthread_t thread, const char *name);

// Swift cannot call functions with any number of arguments. The word may be in memory that processes share.
static inline long tally_futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit) {
  return syscall(SYS_futex, word, operation, value, limit, (void *)0, 0);
}
#endif
