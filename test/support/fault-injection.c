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
 * A number behind it, as in "hold-sync journal.db 3", says how many of the calls that it concerns are let through first.
 *
 * The control file is read at each call, so that a test may change it at any time. A file beside it, with ".met" behind
 * its name, says that a call has met the fault.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

/* What the control file says of one file. */
struct order {
	enum fault fault;
	int let_through;
	struct timespec given;
};

/* The order that concerns a file now. Raw system calls: ours are the wrapped ones. */
static struct order order_of(int fd)
{
	struct order order = { NONE, 0, { 0, 0 } };
	const char *control = getenv("STREAMVAULT_FAULT_CONTROL");
	struct stat status;
	if (control == NULL || stat(control, &status) != 0 || status.st_size == 0) return order;

	char text[128] = "", word[32] = "", part[96] = "", link[64], path[4096];
	int file = (int)syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
	if (file < 0) return order;
	ssize_t length = syscall(SYS_read, file, text, sizeof text - 1);
	syscall(SYS_close, file);
	if (length <= 0 || sscanf(text, "%31s %95s %d", word, part, &order.let_through) < 2) return order;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length <= 0) return order;
	path[length] = '\0';
	if (strstr(path, part) != NULL) order.fault = parse(word);
	order.given = status.st_mtim;
	return order;
}

/* Whether this call is one of those that come first. */
static int is_let_through(struct order order)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct timespec given;
	static int calls;

	pthread_mutex_lock(&lock);
	if (given.tv_sec != order.given.tv_sec || given.tv_nsec != order.given.tv_nsec) calls = 0;
	given = order.given;
	int is_first = calls < order.let_through;
	if (is_first) calls++;
	pthread_mutex_unlock(&lock);
	return is_first;
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

static int is_hold(enum fault fault, int is_sync)
{
	return fault == HOLD || (is_sync && fault == HOLD_SYNC);
}

/* Returns -1, with errno set, when the call has to fail. */
static int before(int fd, int is_sync)
{
	int errno_before = errno;
	struct order order = order_of(fd);
	enum fault failing = is_sync ? EIO_FAULT : ENOSPC_FAULT;
	int is_met = order.fault == failing || is_hold(order.fault, is_sync);
	if (!is_met || is_let_through(order)) {
		errno = errno_before;
		return 0;
	}
	say_met();
	while (is_hold(order.fault, is_sync)) {
		nap();
		order = order_of(fd);
	}
	if (order.fault != failing) {
		errno = errno_before;
		return 0;
	}
	errno = is_sync ? EIO : ENOSPC;
	return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd)
{
	return before(fd, 1) == 0 ? REAL(fsync)(fd) : -1;
}

int fdatasync(int fd)
{
	return before(fd, 1) == 0 ? REAL(fdatasync)(fd) : -1;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	return before(fd, 0) == 0 ? REAL(write)(fd, bytes, count) : -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	return before(fd, 0) == 0 ? REAL(pwrite)(fd, bytes, count, offset) : -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
	return before(fd, 0) == 0 ? REAL(pwrite64)(fd, bytes, count, offset) : -1;
}
