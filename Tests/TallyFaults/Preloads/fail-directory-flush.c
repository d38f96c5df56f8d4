// Loaded before the C library (LD_PRELOAD) into a process: the n-th flush of a directory fails, where
// $TALLY_FAIL_DIRECTORY_FLUSH holds n. The file that $TALLY_FAULT_FIRED names is created then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long count;

int fsync(int descriptor) {
  const char *wanted = getenv("TALLY_FAIL_DIRECTORY_FLUSH"), *mark = getenv("TALLY_FAULT_FIRED");
  struct stat status;
  if (wanted && !fstat(descriptor, &status) && S_ISDIR(status.st_mode) && atomic_fetch_add(&count, 1) + 1 == atol(wanted)) {
    if (mark) close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    errno = EIO;
    return -1;
  }
  return ((__typeof__(&fsync))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}
