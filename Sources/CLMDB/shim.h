#pragma once
#include <lmdb.h>

#ifdef __linux__
#include <sys/types.h>

// Swift sees the system's C library without its extensions; these two have been in every one for long.
int dup3(int oldfd, int newfd, int flags);
int fallocate(int fd, int mode, off_t offset, off_t len);
#endif
