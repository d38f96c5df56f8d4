#pragma once

#ifdef __linux__
#include <pthread.h>
#include <sys/types.h>

// Swift imports the system's C library without its extensions; every version in use has these four.
int dup3(int oldfd, int newfd, int flags);
int fallocate(int fd, int mode, off_t offset, off_t len);
int sync_file_range(int fd, off_t offset, off_t nbytes, unsigned int flags);
int pthread_setname_np(pthread_t thread, const char *name);
#endif
