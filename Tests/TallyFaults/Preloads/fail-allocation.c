// Loaded before the C library (LD_PRELOAD): the n-th allocation of liblmdb fails, n being the number in
// $TALLY_FAIL_ALLOCATION; with a `+` after it all later ones fail, too. Other allocations do not fail: Swift ends its
// process when one of its own does. When the first has failed, the file that $TALLY_FAULT_FIRED names is created.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The functions behind the ones that are replaced here; looking them up by name would itself allocate.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static uintptr_t first, last;
static long wanted;
static int is_lasting;
static atomic_long count;

static int find(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "liblmdb")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    first = info->dlpi_addr + part->p_vaddr;
    last = first + part->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void arm(void) {
  const char *number = getenv("TALLY_FAIL_ALLOCATION");
  if (!number) return;
  char *end;
  wanted = strtol(number, &end, 10);
  is_lasting = *end == '+';
  dl_iterate_phdr(find, NULL);
}

static int fails(void *caller) {
  if (!wanted || (uintptr_t)caller < first || (uintptr_t)caller >= last) return 0;
  long number = atomic_fetch_add(&count, 1) + 1;
  if (number != wanted && !(is_lasting && number > wanted)) return 0;
  const char *path = getenv("TALLY_FAULT_FIRED");
  int file = path && number == wanted ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file >= 0) close(file);
  errno = ENOMEM;
  return 1;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size) { return fails(CALLER) ? NULL : __libc_malloc(size); }

void *calloc(size_t number, size_t size) { return fails(CALLER) ? NULL : __libc_calloc(number, size); }

void *realloc(void *old, size_t size) { return fails(CALLER) ? NULL : __libc_realloc(old, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (fails(CALLER)) return ENOMEM;
  void *memory = __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}
