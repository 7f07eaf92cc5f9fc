// Preloaded into a program that callgrind watches, so that every run executes the same instructions:
// time stands still, random numbers are the same each time, and nobody wakes up for a timer. A byte on the descriptor
// that WEIR_INSTRUCTIONS names writes down what was counted since the last one, and is answered by another.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

// Later than the kernel's own clocks: what waits until a time of these waits for ever.
enum { since_boot = 1000000000, since_1970 = 2000000000 };

int clock_gettime(clockid_t clock, struct timespec* time) {
  time->tv_sec = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? since_1970 : since_boot;
  time->tv_nsec = 0;
  return 0;
}

int poll(struct pollfd* watched, nfds_t count, int milliseconds) {
  static const struct timespec at_once = {0, 0};
  return ppoll(watched, count, milliseconds == 0 ? &at_once : NULL, NULL);
}

ssize_t getrandom(void* to, size_t size, unsigned flags) {
  (void)flags;
  memset(to, 42, size);
  return (ssize_t)size;
}

// std::random_device, which would ask the processor.
unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  (void)device;
  return 42;
}

static int control;

static void* count(void* unused) {
  (void)unused;
  char command;
  while (read(control, &command, 1) == 1) {
    CALLGRIND_DUMP_STATS;
    if (write(control, &command, 1) != 1) break;
  }
  return NULL;
}

__attribute__((constructor)) static void start(void) {
  const char* number = getenv("WEIR_INSTRUCTIONS");
  if (!RUNNING_ON_VALGRIND || number == NULL) return;  // valgrind's launcher has this library too
  control = atoi(number);
  pthread_t thread;
  pthread_create(&thread, NULL, count, NULL);
}
