// Loaded before the C library (LD_PRELOAD) into a process that uses a store: the n-th last step of a commit, the write of
// liblmdb's meta page through its synchronous descriptor, is reported as failed. $TALLY_FAIL_LAST_STEP holds n and, after
// a colon, the real effect:
//   lost     nothing is written, and the old page is restored, as liblmdb does
//   kept     the page is written, and restoring the old one fails
//   unknown  as `kept`, and the flush that should confirm it fails, too
// When that has happened, the file that $TALLY_FAULT_FIRED names is created.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { OTHER, DATA, SYNCHRONOUS };
enum mode { LOST, KEPT, UNKNOWN };

// More than the meta page's fields, less than a page.
static const size_t most_meta_bytes = 512;

static unsigned char kinds[1024];
static long wanted;
static enum mode mode;
static atomic_long count;
static atomic_int failing_restores, failing_flushes;

__attribute__((constructor)) static void arm(void) {
  const char *text = getenv("TALLY_FAIL_LAST_STEP");
  if (!text) return;
  char *end;
  wanted = strtol(text, &end, 10);
  mode = !strcmp(end, ":kept") ? KEPT : !strcmp(end, ":unknown") ? UNKNOWN : LOST;
}

static enum kind kind_of(int descriptor) {
  return descriptor >= 0 && descriptor < (int)sizeof kinds ? kinds[descriptor] : OTHER;
}

static int noted(int descriptor, const char *path, int flags) {
  if (descriptor < 0 || descriptor >= (int)sizeof kinds) return descriptor;
  const char *slash = strrchr(path, '/');
  kinds[descriptor] = OTHER;
  if ((flags & O_ACCMODE) == O_RDONLY || strcmp(slash ? slash + 1 : path, "data.mdb")) return descriptor;
  kinds[descriptor] = flags & O_DSYNC ? SYNCHRONOUS : DATA;
  return descriptor;
}

static int fail(void) {
  errno = EIO;
  return -1;
}

static void mark_fired(void) {
  const char *path = getenv("TALLY_FAULT_FIRED");
  // The system call itself: the function of that name is ours.
  if (path) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENING(name)                                                           \
  int name(const char *path, int flags, ...) {                                  \
    va_list rest;                                                               \
    va_start(rest, flags);                                                      \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                               \
    return noted(NEXT(name)(path, flags, mode), path, flags);                   \
  }

OPENING(open)
OPENING(open64)

#define WRITING_AT(name, type)                                                                \
  ssize_t name(int descriptor, const void *bytes, size_t size, type offset) {                 \
    if (kind_of(descriptor) == DATA && size < most_meta_bytes && failing_restores > 0) {      \
      failing_restores--;                                                                     \
      return fail();                                                                          \
    }                                                                                         \
    if (kind_of(descriptor) != SYNCHRONOUS || !wanted || atomic_fetch_add(&count, 1) + 1 != wanted) \
      return NEXT(name)(descriptor, bytes, size, offset);                                     \
    mark_fired();                                                                                \
    if (mode == LOST) return fail();                                                          \
    failing_restores = 1;                                                                     \
    failing_flushes = mode == UNKNOWN;                                                        \
    NEXT(name)(descriptor, bytes, size, offset);                                              \
    return fail();                                                                            \
  }

WRITING_AT(pwrite, off_t)
WRITING_AT(pwrite64, off64_t)

#define FLUSHING(name)                                       \
  int name(int descriptor) {                                 \
    if (kind_of(descriptor) == DATA && failing_flushes > 0) { \
      failing_flushes--;                                     \
      return fail();                                         \
    }                                                        \
    return NEXT(name)(descriptor);                           \
  }

FLUSHING(fsync)
FLUSHING(fdatasync)
