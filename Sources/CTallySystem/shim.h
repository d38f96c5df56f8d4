#pragma once

#ifdef __linux__
#include <sys/types.h>

// Swift imports the system's C library without its extensions; every version in use has these two.
int dup3(int oldfd, int newfd, int flags);
int fallocate(int fd, int mode, off_t offset, off_t len);
#endif
