// Loaded before the C library (LD_PRELOAD) into a process that uses a store: every call passes through, and those that
// change or flush a file `data.mdb`, name files, or write to a file `acknowledged` are appended to the log that
// $TALLY_WRITE_LOG names. A record is written when its call has returned, so the log's order is that of the disk.
//
// record: kind (1 byte), offset (8 bytes), number of bytes (8 bytes), the bytes; numbers in the machine's byte order
//   W  a write that a flush must follow        M  a write through a synchronous descriptor: on the disk when it returns
//   S  a flush                                 T  a change of the length to `offset`
//   N  a renaming or a link                    A  a line of the file of acknowledgements
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OTHER, DATA, SYNCHRONOUS, ACKNOWLEDGED };

static unsigned char kinds[1024];
static int log_descriptor = -1;

__attribute__((constructor)) static void open_log(void) {
  const char *path = getenv("TALLY_WRITE_LOG");
  // The system call itself: the function of that name is ours.
  if (path) log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void record(char kind, int64_t offset, const struct iovec *parts, int count) {
  if (log_descriptor < 0) return;
  uint64_t size = 0;
  for (int i = 0; i < count; i++) size += parts[i].iov_len;
  struct iovec all[1 + 1024];
  char head[17];
  head[0] = kind;
  memcpy(head + 1, &offset, 8);
  memcpy(head + 9, &size, 8);
  all[0] = (struct iovec){head, sizeof head};
  for (int i = 0; i < count; i++) all[1 + i] = parts[i];
  // One call, so that the records of several processes do not mix. A log that cannot be written proves nothing.
  if (syscall(SYS_writev, log_descriptor, all, 1 + count) != (long)(sizeof head + size)) abort();
}

static enum kind kind_of(int descriptor) {
  return descriptor >= 0 && descriptor < (int)sizeof kinds ? kinds[descriptor] : OTHER;
}

static int noted(int descriptor, const char *path, int flags) {
  if (descriptor < 0 || descriptor >= (int)sizeof kinds) return descriptor;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  kinds[descriptor] = OTHER;
  if ((flags & O_ACCMODE) == O_RDONLY) return descriptor;
  if (!strcmp(name, "data.mdb")) kinds[descriptor] = flags & O_DSYNC ? SYNCHRONOUS : DATA;
  if (!strcmp(name, "acknowledged")) kinds[descriptor] = ACKNOWLEDGED;
  return descriptor;
}

static void record_write(int descriptor, int64_t offset, const struct iovec *parts, int count, ssize_t written) {
  // A short write has no record of its own: the disk under test is not full.
  static const char letters[] = {[DATA] = 'W', [SYNCHRONOUS] = 'M', [ACKNOWLEDGED] = 'A'};
  if (kind_of(descriptor) != OTHER && written > 0) record(letters[kind_of(descriptor)], offset, parts, count);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENING(name)                                                  \
  int name(const char *path, int flags, ...) {                         \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                      \
    return noted(NEXT(name)(path, flags, mode), path, flags);          \
  }

OPENING(open)
OPENING(open64)

int close(int descriptor) {
  if (kind_of(descriptor) != OTHER) kinds[descriptor] = OTHER;
  return NEXT(close)(descriptor);
}

#define WRITING_AT(name, type)                                               \
  ssize_t name(int descriptor, const void *bytes, size_t count, type offset) { \
    ssize_t written = NEXT(name)(descriptor, bytes, count, offset);          \
    record_write(descriptor, offset, &(struct iovec){(void *)bytes, count}, 1, written); \
    return written;                                                          \
  }

WRITING_AT(pwrite, off_t)
WRITING_AT(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t count) {
  int64_t offset = kind_of(descriptor) == OTHER ? 0 : lseek(descriptor, 0, SEEK_CUR);
  ssize_t written = NEXT(write)(descriptor, bytes, count);
  record_write(descriptor, offset, &(struct iovec){(void *)bytes, count}, 1, written);
  return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  int64_t offset = kind_of(descriptor) == OTHER ? 0 : lseek(descriptor, 0, SEEK_CUR);
  ssize_t written = NEXT(writev)(descriptor, parts, count);
  record_write(descriptor, offset, parts, count, written);
  return written;
}

#define FLUSHING(name)                                                                                        \
  int name(int descriptor) {                                                                                  \
    int result = NEXT(name)(descriptor);                                                                      \
    if ((kind_of(descriptor) == DATA || kind_of(descriptor) == SYNCHRONOUS) && !result) record('S', 0, 0, 0); \
    return result;                                                                                            \
  }

FLUSHING(fsync)
FLUSHING(fdatasync)

#define TRUNCATING(name, type)                                               \
  int name(int descriptor, type length) {                                    \
    int result = NEXT(name)(descriptor, length);                             \
    if (kind_of(descriptor) == DATA && !result) record('T', length, 0, 0);   \
    return result;                                                           \
  }

TRUNCATING(ftruncate, off_t)
TRUNCATING(ftruncate64, off64_t)

#define NAMING(name)                                       \
  int name(const char *old_path, const char *new_path) {   \
    int result = NEXT(name)(old_path, new_path);           \
    if (!result) record('N', 0, 0, 0);                     \
    return result;                                         \
  }

NAMING(rename)
NAMING(link)
