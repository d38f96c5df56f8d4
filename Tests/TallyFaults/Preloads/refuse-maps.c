// Loaded before the C library (LD_PRELOAD): a map of more than $TALLY_LARGEST_MAP bytes is refused as an invalid argument,
// as under valgrind and where the address space is small. When the first is, the file that $TALLY_FAULT_FIRED names is created.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  const char *largest = getenv("TALLY_LARGEST_MAP");
  if (!largest || length <= strtoull(largest, NULL, 10))
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
  const char *path = getenv("TALLY_FAULT_FIRED");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file >= 0) close(file);
  errno = EINVAL;
  return MAP_FAILED;
}
