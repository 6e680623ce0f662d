/*
 * Makes a file's writes fail or wait, for tests: loaded with LD_PRELOAD by fault-injection.ts.
 *
 * STREAMVAULT_FAULT_CONTROL names a control file. It holds nothing, or a fault and a part of the
 * paths that it concerns, such as "eio journal.db":
 *
 *   eio        fsync and fdatasync fail with EIO
 *   enospc     write and pwrite fail with ENOSPC
 *   hold       all of these wait until the fault is over
 *   hold-sync  fsync and fdatasync wait until the fault is over
 *
 * The control file is read at each call, so that a test may change it at any time. A file beside it, with ".met" behind
 * its name, says that a call has met the fault.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum fault { NONE, EIO_FAULT, ENOSPC_FAULT, HOLD, HOLD_SYNC };

static enum fault parse(const char *word)
{
	if (strcmp(word, "eio") == 0) return EIO_FAULT;
	if (strcmp(word, "enospc") == 0) return ENOSPC_FAULT;
	if (strcmp(word, "hold") == 0) return HOLD;
	if (strcmp(word, "hold-sync") == 0) return HOLD_SYNC;
	return NONE;
}

/* The fault that concerns a file now. Raw system calls: ours are the wrapped ones. */
static enum fault fault_of(int fd)
{
	const char *control = getenv("STREAMVAULT_FAULT_CONTROL");
	struct stat status;
	if (control == NULL || stat(control, &status) != 0 || status.st_size == 0) return NONE;

	char text[128] = "", word[32] = "", part[96] = "", link[64], path[4096];
	int file = (int)syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
	if (file < 0) return NONE;
	ssize_t length = syscall(SYS_read, file, text, sizeof text - 1);
	syscall(SYS_close, file);
	if (length <= 0 || sscanf(text, "%31s %95s", word, part) != 2) return NONE;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length <= 0) return NONE;
	path[length] = '\0';
	return strstr(path, part) == NULL ? NONE : parse(word);
}

static void say_met(void)
{
	char path[4096];
	snprintf(path, sizeof path, "%s.met", getenv("STREAMVAULT_FAULT_CONTROL"));
	int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (file >= 0) syscall(SYS_close, file);
}

static void nap(void)
{
	const struct timespec two_ms = { 0, 2000000 };
	nanosleep(&two_ms, NULL);
}

/* Returns -1, with errno set, when the call has to fail. */
static int before_write(int fd)
{
	int before = errno;
	enum fault fault = fault_of(fd);
	if (fault == HOLD || fault == ENOSPC_FAULT) say_met();
	while (fault == HOLD) {
		nap();
		fault = fault_of(fd);
	}
	errno = fault == ENOSPC_FAULT ? ENOSPC : before;
	return fault == ENOSPC_FAULT ? -1 : 0;
}

static int before_sync(int fd)
{
	int before = errno;
	enum fault fault = fault_of(fd);
	if (fault == HOLD || fault == HOLD_SYNC || fault == EIO_FAULT) say_met();
	while (fault == HOLD || fault == HOLD_SYNC) {
		nap();
		fault = fault_of(fd);
	}
	errno = fault == EIO_FAULT ? EIO : before;
	return fault == EIO_FAULT ? -1 : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd)
{
	return before_sync(fd) == 0 ? REAL(fsync)(fd) : -1;
}

int fdatasync(int fd)
{
	return before_sync(fd) == 0 ? REAL(fdatasync)(fd) : -1;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	return before_write(fd) == 0 ? REAL(write)(fd, bytes, count) : -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	return before_write(fd) == 0 ? REAL(pwrite)(fd, bytes, count, offset) : -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
	return before_write(fd) == 0 ? REAL(pwrite64)(fd, bytes, count, offset) : -1;
}
