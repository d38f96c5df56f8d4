// Loaded before the C library (LD_PRELOAD) into a process, and those that it starts: every call passes through, and those
// that change or flush files, or the entries of directories, are appended to the log that $TALLY_FILE_LOG names. A record
// is written when its call has returned, so the log's order is that of the disk. Files and directories are named by
// their inode numbers; the reader ignores unknown ones.
//
// record: kind (8 bytes), three numbers (8 bytes each), number of bytes (8 bytes), the bytes; in the machine's byte order
//   W  a write to inode 1 at offset 2               M  a write through a synchronous descriptor
//   T  inode 1 has the length 2
//   K  a process ends, as one that is killed
//   B  a flush of inode 1 begins, as number 2       S  a flush of inode 1 has ended, which had the number 2
//   E  directory 1 has an entry for inode 2, which may be new; 3 says whether that is a directory; the bytes are its name
//   L  directory 1 has a further entry for the known inode 2; the bytes are its name
//   R  from directory 1 to directory 2: inode 3 has moved; the bytes are both names, a NUL between them
//   U  directory 1 has lost an entry; the bytes are its name
//
// The process ends, as by a kill, before the recorded call numbered $TALLY_END_AFTER, or after the one numbered
// $TALLY_END_BEHIND and its record, or in the synchronous write numbered $TALLY_END_IN_META, as liblmdb writes meta pages,
// while it waits for the disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int log_descriptor = -1;
static long calls_left = -1, returns_left = -1, metas_left = -1;
static uint64_t flush_count;
// Held over a call and its record: a thread that ends the process finds every call of the others recorded, or not made.
static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;

static void record(char kind, uint64_t first, uint64_t second, uint64_t third, const struct iovec *parts, int count);

static void end_process(void) {
  record('K', 0, 0, 0, 0, 0);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void begin_call(void) {
  if (log_descriptor < 0) return;
  pthread_mutex_lock(&call_lock);
  if (calls_left > 0 && --calls_left == 0) end_process();
}

static void end_call(void) {
  if (log_descriptor < 0) return;
  if (returns_left > 0 && --returns_left == 0) end_process();
  pthread_mutex_unlock(&call_lock);
}

__attribute__((constructor)) static void open_log(void) {
  const char *path = getenv("TALLY_FILE_LOG");
  // The system call itself: the function of that name is ours.
  if (path) log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *end = getenv("TALLY_END_AFTER");
  if (end) calls_left = atol(end);
  const char *behind = getenv("TALLY_END_BEHIND");
  if (behind) returns_left = atol(behind);
  const char *meta = getenv("TALLY_END_IN_META");
  if (meta) metas_left = atol(meta);
}

static void record(char kind, uint64_t first, uint64_t second, uint64_t third, const struct iovec *parts, int count) {
  if (log_descriptor < 0) return;
  uint64_t head[5] = {(uint64_t)kind, first, second, third, 0};
  struct iovec all[1 + 1024];
  for (int i = 0; i < count; i++) {
    head[4] += parts[i].iov_len;
    all[1 + i] = parts[i];
  }
  all[0] = (struct iovec){head, sizeof head};
  int error = errno;
  // One call, so that the records of several processes do not mix. A log that cannot be written proves nothing.
  if (syscall(SYS_writev, log_descriptor, all, 1 + count) != (long)(sizeof head + head[4])) abort();
  errno = error;
}

static void record_name(char kind, uint64_t first, uint64_t second, uint64_t third, const char *name, size_t size) {
  record(kind, first, second, third, &(struct iovec){(void *)name, size}, 1);
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static uint64_t inode_of(const char *path) {
  struct stat status;
  return lstat(path, &status) ? 0 : status.st_ino;
}

static uint64_t parent_of(const char *path) {
  char parent[4096];
  size_t size = (size_t)(name_of(path) - path);
  if (size >= sizeof parent) abort();
  memcpy(parent, path, size);
  strcpy(parent + size, ".");
  struct stat status;
  return stat(parent, &status) ? 0 : status.st_ino;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void record_entry(const char *path, int flags) {
  struct stat status;
  if (lstat(path, &status)) return;
  record_name('E', parent_of(path), status.st_ino, S_ISDIR(status.st_mode), name_of(path), strlen(name_of(path)));
  if (flags & O_TRUNC) record('T', status.st_ino, 0, 0, 0, 0);
}

#define OPENING(name)                                                                \
  int name(const char *path, int flags, ...) {                                       \
    va_list rest;                                                                    \
    va_start(rest, flags);                                                           \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0;      \
    va_end(rest);                                                                    \
    int changes = flags & (O_CREAT | O_TRUNC);                                       \
    if (changes) begin_call();                                                       \
    int descriptor = NEXT(name)(path, flags, mode);                                  \
    if (descriptor >= 0 && changes) record_entry(path, flags);                       \
    if (changes) end_call();                                                         \
    return descriptor;                                                               \
  }

OPENING(open)
OPENING(open64)

int mkdir(const char *path, mode_t mode) {
  int result = NEXT(mkdir)(path, mode);
  if (!result) record_entry(path, 0);
  return result;
}

int link(const char *old_path, const char *new_path) {
  int result = NEXT(link)(old_path, new_path);
  if (!result) record_name('L', parent_of(new_path), inode_of(new_path), 0, name_of(new_path), strlen(name_of(new_path)));
  return result;
}

int rename(const char *old_path, const char *new_path) {
  begin_call();
  int result = NEXT(rename)(old_path, new_path);
  if (result) {
    end_call();
    return result;
  }
  const char *old_name = name_of(old_path), *new_name = name_of(new_path);
  struct iovec names[2] = {{(void *)old_name, strlen(old_name) + 1}, {(void *)new_name, strlen(new_name)}};
  record('R', parent_of(old_path), parent_of(new_path), inode_of(new_path), names, 2);
  end_call();
  return result;
}

#define REMOVING(name)                                                                              \
  int name(const char *path) {                                                                      \
    begin_call();                                                                                   \
    int result = NEXT(name)(path), error = errno;                                                   \
    if (!result) record_name('U', parent_of(path), 0, 0, name_of(path), strlen(name_of(path)));     \
    end_call();                                                                                     \
    errno = error;                                                                                  \
    return result;                                                                                  \
  }

REMOVING(unlink)
REMOVING(rmdir)

static void record_write(int descriptor, int64_t offset, const struct iovec *parts, int count, ssize_t written) {
  struct stat status;
  if (log_descriptor < 0 || written <= 0 || fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return;
  int is_synchronous = fcntl(descriptor, F_GETFL) & O_DSYNC;
  // A short write has no record of its own: the disk under test is not full.
  // One that is killed while it waits for the disk has written, and nobody has flushed that.
  int is_last = is_synchronous && metas_left > 0 && --metas_left == 0;
  record(is_synchronous && !is_last ? 'M' : 'W', status.st_ino, (uint64_t)offset, 0, parts, count);
  if (is_last) end_process();
}

/// Where a write without an offset has begun, by where it has ended.
static int64_t start_of(int descriptor, ssize_t written) {
  return lseek(descriptor, 0, SEEK_CUR) - written;
}

#define WRITING_AT(name, type)                                                           \
  ssize_t name(int descriptor, const void *bytes, size_t count, type offset) {           \
    begin_call();                                                                        \
    ssize_t written = NEXT(name)(descriptor, bytes, count, offset);                      \
    record_write(descriptor, offset, &(struct iovec){(void *)bytes, count}, 1, written); \
    end_call();                                                                          \
    return written;                                                                      \
  }

WRITING_AT(pwrite, off_t)
WRITING_AT(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t count) {
  begin_call();
  ssize_t written = NEXT(write)(descriptor, bytes, count);
  int error = errno;
  record_write(descriptor, start_of(descriptor, written), &(struct iovec){(void *)bytes, count}, 1, written);
  end_call();
  errno = error;
  return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  begin_call();
  ssize_t written = NEXT(writev)(descriptor, parts, count);
  int error = errno;
  record_write(descriptor, start_of(descriptor, written), parts, count, written);
  end_call();
  errno = error;
  return written;
}

static void record_inode(char kind, int descriptor, uint64_t number) {
  struct stat status;
  if (!fstat(descriptor, &status)) record(kind, status.st_ino, number, 0, 0, 0);
}

/// Records the beginning of a flush, and returns its number.
static uint64_t begin_flush(int descriptor) {
  begin_call();
  uint64_t number = (uint64_t)getpid() << 32 | ++flush_count;
  record_inode('B', descriptor, number);
  end_call();
  return number;
}

#define FLUSHING(name)                                  \
  int name(int descriptor) {                            \
    uint64_t number = begin_flush(descriptor);          \
    int result = NEXT(name)(descriptor);                \
    begin_call();                                       \
    if (!result) record_inode('S', descriptor, number); \
    end_call();                                         \
    return result;                                      \
  }

FLUSHING(fsync)
FLUSHING(fdatasync)

#define TRUNCATING(name, type)                                    \
  int name(int descriptor, type length) {                         \
    begin_call();                                                 \
    int result = NEXT(name)(descriptor, length);                  \
    if (!result) record_inode('T', descriptor, (uint64_t)length); \
    end_call();                                                   \
    return result;                                                \
  }

TRUNCATING(ftruncate, off_t)
TRUNCATING(ftruncate64, off64_t)
