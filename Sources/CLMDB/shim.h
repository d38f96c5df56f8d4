#pragma once
#include <lmdb.h>

#ifdef __linux__
#include <sys/types.h>

// Swift sees the system's C library without its extensions; this one has been in every one for long.
int fallocate(int fd, int mode, off_t offset, off_t len);
#endif
