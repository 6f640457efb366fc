// The recorder as a library: the functions that profline/phases.h looks up, and that Python calls.
// They record, and pass ranges on to nsys or ncu if one of these is attached.
#include <dlfcn.h>
#include <errno.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <pthread.h>

#include "recorder/internal/nvtx_abi.h"
#include "recorder/internal/ranges.h"

namespace profline::recorder {
namespace {

/// The NVTX tool of this process, if there is one and it is not the recorder: nsys, ncu. Ranges of
/// the C API are passed on to it, as if the program had called NVTX.
struct OtherTool {
  void (*mark)(const char*);
  std::uint64_t (*start)(const char*);
  void (*end)(std::uint64_t);
  int (*push)(const char*);
  int (*pop)();
};

constinit OtherTool loaded_tool{};
constinit std::atomic<bool> is_tool_loaded{false};
pthread_once_t once = PTHREAD_ONCE_INIT;

// What NVTX has in every program: where a tool stores its functions, and tables of these places.
nvtx::Function functions[nvtx::kModules][nvtx::kLargestTable];
nvtx::Function* tables[nvtx::kModules][nvtx::kLargestTable];

int get_module_function_table(nvtx::Module module, nvtx::FunctionTable* table, unsigned* size) {
  const auto number = static_cast<std::size_t>(module);
  if (number == 0 || number >= nvtx::kModules) return 0;
  if (table != nullptr) *table = tables[number];
  if (size != nullptr) *size = nvtx::kTableSizes[number];
  return 1;
}

void set_injection_version(std::uint32_t) {}

const void* get_export_table(std::uint32_t table) {
  static const nvtx::Callbacks callbacks{sizeof callbacks, get_module_function_table};
  static const nvtx::VersionInfo version{sizeof version, nvtx::kVersion, 0, set_injection_version};
  if (table == nvtx::kCallbacksTable) return &callbacks;
  if (table == nvtx::kVersionTable) return &version;
  return nullptr;
}

template <typename F>
F* function(std::uint32_t position) {
  constexpr auto kCore = static_cast<std::size_t>(nvtx::Module::Core);
  return reinterpret_cast<F*>(functions[kCore][position]);
}

void load() {
  const char* const path = secure_getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || path[0] == '\0') return;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  // This library, or a copy of it: what is recorded already is not recorded again.
  if (dlsym(library, "profline_range_push") != nullptr) return;
  const auto initialize =
      reinterpret_cast<nvtx::InitializeInjection>(dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize == nullptr) return;
  for (std::size_t module = 1; module < nvtx::kModules; ++module) {
    for (std::uint32_t i = 1; i < nvtx::kTableSizes[module]; ++i) {
      tables[module][i] = &functions[module][i];
    }
  }
  if (initialize(get_export_table) == 0) return;
  loaded_tool.mark = function<void(const char*)>(nvtx::core::kMarkA);
  loaded_tool.start = function<std::uint64_t(const char*)>(nvtx::core::kRangeStartA);
  loaded_tool.end = function<void(std::uint64_t)>(nvtx::core::kRangeEnd);
  loaded_tool.push = function<int(const char*)>(nvtx::core::kRangePushA);
  loaded_tool.pop = function<int()>(nvtx::core::kRangePop);
}

void load_other_tool() {
  const int error = errno;
  pthread_once(&once, load);
  is_tool_loaded.store(true, std::memory_order_release);
  errno = error;
}

/// Loads the tool on the first call. Functions that it does not provide, or all, are null.
const OtherTool& other_tool() {
  if (!is_tool_loaded.load(std::memory_order_acquire)) load_other_tool();
  return loaded_tool;
}

constexpr const char* kRequestRange = "request";
constexpr const char* kStepMark = "step";
constexpr std::int32_t kNestedRequests = 8;

/// What this thread opened through these functions, so that the end of a request also ends the
/// phases that are still open in it.
struct OpenRanges {
  std::int32_t depth = 0;
  std::int32_t requests = 0;
  std::int32_t around[kNestedRequests] = {};  ///< the depth around each open request
};
thread_local OpenRanges open_ranges;

std::atomic<std::uint64_t> next_range{1};

int push_range(const char* name, EventKind kind) {
  const OtherTool& tool = other_tool();
  if (tool.push != nullptr) tool.push(name == nullptr ? "" : name);
  ++open_ranges.depth;
  return push(nullptr, name, kind);
}

int pop_range() {
  const int depth = pop(nullptr);
  if (open_ranges.depth > 0) --open_ranges.depth;
  const OtherTool& tool = other_tool();
  if (tool.pop != nullptr) tool.pop();
  return depth;
}

}  // namespace

std::uint64_t new_range_id() {
  return next_range.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace profline::recorder

using namespace profline::recorder;

#pragma GCC visibility push(default)
extern "C" {

int profline_range_push(const char* name) {
  return push_range(name, EventKind::Push);
}

int profline_range_pop() {
  return pop_range();
}

std::uint64_t profline_range_start(const char* name) {
  const OtherTool& tool = other_tool();
  const std::uint64_t id =
      tool.start != nullptr ? tool.start(name == nullptr ? "" : name) : new_range_id();
  start(nullptr, name, id);
  return id;
}

void profline_range_end(std::uint64_t id) {
  end(id);
  const OtherTool& tool = other_tool();
  if (tool.end != nullptr) tool.end(id);
}

void profline_request_begin() {
  OpenRanges& open = open_ranges;
  if (open.requests < kNestedRequests) open.around[open.requests] = open.depth;
  ++open.requests;
  push_range(kRequestRange, EventKind::Request);
}

void profline_request_end() {
  OpenRanges& open = open_ranges;
  if (open.requests == 0) return;
  --open.requests;
  const std::int32_t around =
      open.requests < kNestedRequests ? open.around[open.requests] : open.depth - 1;
  while (open.depth > around && open.depth > 0) pop_range();
}

void profline_request_number(const char* name, std::uint64_t value) {
  const Entry entry;
  if (entry) append(entry, EventKind::Number, 0, name_of(entry, name), value);
}

void profline_phase_begin(const char* name) {
  push_range(name, EventKind::Push);
}

void profline_phase_end() {
  pop_range();
}

void profline_step() {
  mark(nullptr, kStepMark, EventKind::Step);
  const OtherTool& tool = other_tool();
  if (tool.mark != nullptr) tool.mark(kStepMark);
}

std::uint64_t profline_dropped() {
  Session* const session = started_session();
  if (session == nullptr) return 0;
  std::uint64_t sum = 0;
  for (std::uint64_t& lost : session->header->lost) {
    sum += std::atomic_ref(lost).load(std::memory_order_relaxed);
  }
  return sum;
}

}  // extern "C"
#pragma GCC visibility pop
