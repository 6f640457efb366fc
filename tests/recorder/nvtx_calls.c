// Opens ranges with the real NVTX headers, in the ways that its first argument names; recorder_test.cpp
// runs it under the recorder. Prints `done`, whatever happened to the recording.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

extern char** environ;
static const char* program;
static long count;

static void check(int holds, const char* what) {
  if (holds) return;
  printf("failed: %s\n", what);
  exit(9);
}

static nvtxEventAttributes_t attributes(void) {
  nvtxEventAttributes_t event;
  memset(&event, 0, sizeof event);
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return event;
}

static void pairs(const char* name, long times) {
  for (long i = 0; i < times; ++i) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

static void every_kind(void) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  const nvtxDomainHandle_t wide_domain = nvtxDomainCreateW(L"br\u00fccke");
  nvtxEventAttributes_t event = attributes();
  check(nvtxRangePushA("ascii") == 0, "depth of the first range");
  check(nvtxRangePushW(L"w\u00efde \U0001F600") == 1, "depth of the second range");
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "extended";
  check(nvtxRangePushEx(&event) == 2, "depth of the third range");
  event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  event.message.unicode = L"extended wide";
  check(nvtxDomainRangePushEx(domain, &event) == 0, "depth in a domain");
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  check(nvtxDomainRangePushEx(domain, &event) == 1, "second depth in a domain");
  event.message.registered = nvtxDomainRegisterStringW(wide_domain, L"registered wide");
  nvtxDomainRangePushEx(wide_domain, &event);
  event.messageType = NVTX_MESSAGE_UNKNOWN;
  nvtxRangePushEx(&event);
  nvtxRangePushA(NULL);
  nvtxMarkA("mark");
  nvtxMarkW(L"wide mark");
  nvtxRangePop();
  nvtxRangePop();
  nvtxDomainRangePop(wide_domain);
  check(nvtxDomainRangePop(domain) == 1, "depth of the end in a domain");
  nvtxDomainRangePop(domain);
  check(nvtxRangePop() == 2, "depth of an end");
  nvtxRangePop();
  nvtxRangePop();
  const nvtxRangeId_t first = nvtxRangeStartA("start ascii");
  const nvtxRangeId_t second = nvtxRangeStartW(L"start wide");
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "start extended";
  const nvtxRangeId_t third = nvtxDomainRangeStartEx(domain, &event);
  check(first != second && second != third, "numbers of ranges differ");
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  nvtxDomainRangeEnd(domain, third);
  nvtxDomainDestroy(domain);
}

static void killed(void) {
  nvtxRangePushA("open");
  pairs("done", count);
  nvtxRangePushA("in flight");
  raise(SIGKILL);
}

static void children(int raw) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxRangePushA("parent");
  for (int i = 0; i < 2; ++i) {
    const pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (child == 0) {
      nvtxDomainRangePushEx(domain, &event);
      pairs("child", 5000);
      nvtxDomainRangePop(domain);
      nvtxRangePop();  // the parent's range
      _exit(0);
    }
    int status = 1;
    check(waitpid(child, &status, 0) == child && status == 0, "the child ends well");
  }
  pairs("after", 5000);
  nvtxRangePop();
}

static volatile int stop;

static void* many_names_until_stopped(void* unused) {
  (void)unused;
  char name[32];
  for (long i = 0; !stop; ++i) {
    snprintf(name, sizeof name, "name %ld", i % 5000);
    pairs(name, 1);
  }
  return NULL;
}

// Forks at moments at which other threads hold the recorder's lock or are writing.
static void fork_storm(void) {
  // NVTX initializes itself in its first call. A child forked while another thread is in that call
  // waits forever for a thread that it does not have, whichever tool is loaded.
  pairs("first", 1);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, many_names_until_stopped, NULL);
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      pairs("child", 6000);
      _exit(0);
    }
    int status = 1;
    check(waitpid(child, &status, 0) == child && status == 0, "the child ends well");
  }
  stop = 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void replaced(void) {
  nvtxRangePushA("before");
  char* const arguments[] = {(char*)program, "pairs", "3", NULL};
  execv(program, arguments);
}

static void spawned(void) {
  nvtxRangePushA("spawner");
  char* const arguments[] = {(char*)program, "pairs", "3", NULL};
  pid_t child = 0;
  int status = 1;
  check(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0, "spawning");
  waitpid(child, &status, 0);
  check(status == 0, "the spawned process ends well");
  nvtxRangePop();
}

static void* dies_inside(void* kind) {
  pairs("before death", 3);
  nvtxRangePushA("died inside");
  if (kind) pthread_exit(NULL);
  return NULL;
}

static void* waits_inside(void* started) {
  nvtxRangePushA("cancelled inside");
  *(volatile int*)started = 1;
  for (;;) pause();
  return NULL;
}

static void* always_cancelled(void* unused) {
  (void)unused;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;) pairs("cancelled anywhere", 1000);
  return NULL;
}

static void dying_threads(void) {
  pthread_t thread;
  for (int i = 0; i < 4; ++i) {
    pthread_create(&thread, NULL, dies_inside, i % 2 ? &thread : NULL);
    pthread_join(thread, NULL);
  }
  volatile int started = 0;
  pthread_create(&thread, NULL, waits_inside, (void*)&started);
  while (!started) sched_yield();
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, always_cancelled, NULL);
  usleep(20000);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  pairs("survivor", 3);
}

static void* three_pairs(void* unused) {
  (void)unused;
  pairs("short lived", 3);
  return NULL;
}

static void many_threads(void) {
  for (long i = 0; i < count; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, three_pairs, NULL);
    pthread_join(thread, NULL);
  }
}

static void* many_pairs(void* name) {
  pairs(name, count);
  return NULL;
}

static void parallel(void) {
  static char* const names[] = {"one", "two", "three", "four"};
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, many_pairs, names[i]);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void* ends_it(void* range) {
  nvtxRangeEnd(*(nvtxRangeId_t*)range);
  return NULL;
}

static void across_threads(void) {
  nvtxRangeId_t range = nvtxRangeStartA("handed over");
  pthread_t thread;
  pthread_create(&thread, NULL, ends_it, &range);
  pthread_join(thread, NULL);
  nvtxRangeEnd(range);  // again
}

static void unbalanced(void) {
  check(nvtxRangePop() < 0, "an end without a beginning is an error");
  nvtxRangePop();
  pairs("balanced", 2);
  nvtxRangePop();
  nvtxRangeEnd(12345);
  nvtxRangePushA("never ended");
}

static void long_names(void) {
  char* const name = malloc(70001);
  memset(name, 'x', 70000);
  name[70000] = 0;
  pairs(name, 2);
  name[65536] = 0;
  pairs(name, 2);
  name[20000] = 0;
  pairs(name, 2);
  free(name);
  wchar_t* const wide = malloc(30001 * sizeof(wchar_t));
  for (int i = 0; i < 30000; ++i) wide[i] = L'\u00fc';
  wide[30000] = 0;
  nvtxRangePushW(wide);
  nvtxRangePop();
  free(wide);
}

static void many_names(void) {
  char name[32];
  for (long i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "step %ld", i);
    pairs(name, 1);
  }
  pairs("last", 1);
}

static void deep(void) {
  for (long i = 0; i < count; ++i) nvtxRangePushA("level");
  for (long i = 0; i < count; ++i) nvtxRangePop();
}

static void on_signal(int number) {
  (void)number;
  nvtxRangePushA("in a handler");
  nvtxRangePop();
}

static void signal_handlers(void) {
  // NVTX itself waits for ever if a handler interrupts its first call.
  pairs("first", 1);
  signal(SIGALRM, on_signal);
  const struct itimerval often = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, NULL);
  pairs("interrupted", count);
  char name[32];
  for (long i = 0; i < 20000; ++i) {
    snprintf(name, sizeof name, "name %ld", i);
    pairs(name, 1);
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
}

// A daemon closes every descriptor, and its own files then get their numbers.
static void closed_descriptors(void) {
  pairs("before", 3);
  closefrom(3);
  char path[] = "/tmp/profline-recorder-test-XXXXXX";
  const int file = mkstemp(path);
  check(file >= 3, "own file");
  unlink(path);
  pairs("after", 20000);
  struct stat found;
  check(fstat(file, &found) == 0 && found.st_size == 0, "own file is left alone");
}

static void keeps_state(void) {
  sigset_t before;
  sigset_t after;
  sigemptyset(&before);
  sigemptyset(&after);
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  errno = 77;
  pairs("state", 20000);
  nvtxDomainCreateA("domain");
  check(errno == 77, "errno");
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  check(memcmp(&before, &after, sizeof before) == 0, "signal mask");
  for (int number = 1; number < 32; ++number) {
    struct sigaction action;
    if (number == SIGKILL || number == SIGSTOP) continue;
    sigaction(number, NULL, &action);
    check(action.sa_handler == SIG_DFL, "signal handlers");
  }
  int state = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  check(state == PTHREAD_CANCEL_ENABLE, "cancellation");
  check(fcntl(3, F_GETFD) == -1, "no descriptor is left open");
}

static void limited(int resource, rlim_t bytes) {
  const struct rlimit limit = {bytes, bytes};
  setrlimit(resource, &limit);
  pairs("limited", count);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  program = argv[0];
  count = argc > 2 ? atol(argv[2]) : 10;
  if (!strcmp(what, "every_kind")) every_kind();
  if (!strcmp(what, "pairs")) pairs("pair", count);
  if (!strcmp(what, "killed")) killed();
  if (!strcmp(what, "fork")) children(0);
  if (!strcmp(what, "raw_fork")) children(1);
  if (!strcmp(what, "fork_storm")) fork_storm();
  if (!strcmp(what, "exec")) replaced();
  if (!strcmp(what, "spawn")) spawned();
  if (!strcmp(what, "dying_threads")) dying_threads();
  if (!strcmp(what, "many_threads")) many_threads();
  if (!strcmp(what, "parallel")) parallel();
  if (!strcmp(what, "across_threads")) across_threads();
  if (!strcmp(what, "unbalanced")) unbalanced();
  if (!strcmp(what, "long_names")) long_names();
  if (!strcmp(what, "many_names")) many_names();
  if (!strcmp(what, "deep")) deep();
  if (!strcmp(what, "signal_handlers")) signal_handlers();
  if (!strcmp(what, "closed_descriptors")) closed_descriptors();
  if (!strcmp(what, "keeps_state")) keeps_state();
  if (!strcmp(what, "file_size")) limited(RLIMIT_FSIZE, 300000);
  if (!strcmp(what, "memory")) limited(RLIMIT_AS, 40 << 20);
  puts("done");
  fflush(stdout);
  if (!strcmp(what, "pairs") && argc > 3) {
    nvtxRangePushA("open");
    _exit(0);
  }
  return 0;
}
