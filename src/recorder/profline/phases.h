/// Marks requests, phases and steps of a program for profline, in C and C++:
///
///   #include <profline/phases.h>
///
///   profline_request_begin();
///   profline_phase_begin("prefill");
///   ...
///   profline_phase_end();
///   profline_phase_begin("decode");
///   while (...) {
///     ...
///     profline_step();  // a token
///   }
///   profline_phase_end();
///   profline_request_number("new_tokens", 128);
///   profline_request_end();
///
/// In C++, scopes do the same: `profline::request r;`, `profline::phase p("decode");`.
///
/// Nothing has to be linked (with glibc before 2.34: -ldl). Under `profline run` the functions find
/// profline's recorder; each call then takes a few dozen nanoseconds. In any other process they do
/// nothing. nsys and ncu show the same ranges as NVTX ranges.
///
/// A range must end on the thread that opened it, except with profline_range_end(). Names are
/// copied; names of up to 64 KiB are kept whole.
#ifndef PROFLINE_PHASES_H
#define PROFLINE_PHASES_H

#include <dlfcn.h>

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

// What follows up to "The functions" finds the recorder.

struct profline_recorder_functions {
  int (*range_push)(const char*);
  int (*range_pop)(void);
  uint64_t (*range_start)(const char*);
  void (*range_end)(uint64_t);
  void (*request_begin)(void);
  void (*request_end)(void);
  void (*request_number)(const char*, uint64_t);
  void (*phase_begin)(const char*);
  void (*phase_end)(void);
  void (*step)(void);
  uint64_t (*dropped)(void);
  int searched;
};

// One for the whole program: the linker keeps one of the weak definitions.
__attribute__((weak, visibility("hidden"))) struct profline_recorder_functions profline_recorder;

// POSIX lets dlsym return functions as data pointers; C does not let them be cast.
static inline void profline_recorder_find(void* library, const char* name, void* function) {
  void* const found = dlsym(library, name);
  __builtin_memcpy(function, &found, sizeof found);
}

static inline void profline_recorder_load(struct profline_recorder_functions* functions) {
  const char* const path = getenv("PROFLINE_RECORDER");
  void* const library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : 0;
  if (library) {
    profline_recorder_find(library, "profline_range_push", &functions->range_push);
    profline_recorder_find(library, "profline_range_pop", &functions->range_pop);
    profline_recorder_find(library, "profline_range_start", &functions->range_start);
    profline_recorder_find(library, "profline_range_end", &functions->range_end);
    profline_recorder_find(library, "profline_request_begin", &functions->request_begin);
    profline_recorder_find(library, "profline_request_end", &functions->request_end);
    profline_recorder_find(library, "profline_request_number", &functions->request_number);
    profline_recorder_find(library, "profline_phase_begin", &functions->phase_begin);
    profline_recorder_find(library, "profline_phase_end", &functions->phase_end);
    profline_recorder_find(library, "profline_step", &functions->step);
    profline_recorder_find(library, "profline_dropped", &functions->dropped);
  }
  __atomic_store_n(&functions->searched, 1, __ATOMIC_RELEASE);
}

// Threads that come here at the same time store the same values.
static inline const struct profline_recorder_functions* profline_recorder_get(void) {
  if (!__atomic_load_n(&profline_recorder.searched, __ATOMIC_ACQUIRE)) {
    profline_recorder_load(&profline_recorder);
  }
  return &profline_recorder;
}

// The functions.

/// Opens a range on this thread; returns its depth, or a negative number if nothing is recorded.
static inline int profline_range_push(const char* name) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  return f->range_push ? f->range_push(name) : -2;
}

/// Ends the innermost range of this thread; returns its depth.
static inline int profline_range_pop(void) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  return f->range_pop ? f->range_pop() : -2;
}

/// Opens a range that any thread may end.
static inline uint64_t profline_range_start(const char* name) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  return f->range_start ? f->range_start(name) : 0;
}

/// Ends the range that profline_range_start() returned.
static inline void profline_range_end(uint64_t range) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->range_end) f->range_end(range);
}

/// Begins a unit of useful work: a prompt, an image.
static inline void profline_request_begin(void) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->request_begin) f->request_begin();
}

/// Ends the innermost request of this thread, and the phases that are still open in it.
static inline void profline_request_end(void) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->request_end) f->request_end();
}

/// A property of the open request: `prompt_tokens`, `new_tokens`, `batch`, or a name of your own.
static inline void profline_request_number(const char* name, uint64_t value) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->request_number) f->request_number(name, value);
}

/// Begins a named part of the request, or of the phase that is open.
static inline void profline_phase_begin(const char* name) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->phase_begin) f->phase_begin(name);
}

/// Ends the innermost phase of this thread.
static inline void profline_phase_end(void) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->phase_end) f->phase_end();
}

/// Ends a step of the open phase, such as a decoded token. The first step began with the phase,
/// each other one with the end of the step before.
static inline void profline_step(void) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  if (f->step) f->step();
}

/// How many events of this process could not be recorded, for example because the disk is full.
static inline uint64_t profline_dropped(void) {
  const struct profline_recorder_functions* const f = profline_recorder_get();
  return f->dropped ? f->dropped() : 0;
}

#ifdef __cplusplus
}  // extern "C"

namespace profline {

/// A request, from its construction to the end of its scope.
class request {  // NOLINT(readability-identifier-naming): reads like a word of the language
 public:
  request() { profline_request_begin(); }
  ~request() { profline_request_end(); }
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  void number(const char* name, uint64_t value) { profline_request_number(name, value); }
};

/// A phase, from its construction to the end of its scope.
class phase {  // NOLINT(readability-identifier-naming): reads like a word of the language
 public:
  explicit phase(const char* name) { profline_phase_begin(name); }
  ~phase() { profline_phase_end(); }
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

  void step() { profline_step(); }
};

}  // namespace profline
#endif

#endif  // PROFLINE_PHASES_H
