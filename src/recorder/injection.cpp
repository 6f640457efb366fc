// The recorder as an NVTX tool: NVTX loads the library that NVTX_INJECTION64_PATH names and calls
// InitializeInjectionNvtx2, once for each copy of NVTX in the process.

#include <cstdint>
#include <cstdlib>

#include "recorder/internal/nvtx_abi.h"
#include "recorder/internal/ranges.h"

namespace profline::recorder {
namespace {

using nvtx::EventAttributes;
using nvtx::MessageType;

/// Calls `use` with the message of an event, whatever its type.
template <typename Use>
auto with_message(const EventAttributes* attributes, const Use& use) {
  if (attributes != nullptr && attributes->size >= sizeof(EventAttributes)) {
    switch (attributes->message_type) {
      case MessageType::Ascii:
        return use(attributes->message.ascii);
      case MessageType::Unicode:
        return use(attributes->message.unicode);
      case MessageType::Registered:
        return use(static_cast<Name*>(attributes->message.registered));
      case MessageType::Unknown:
        break;
    }
  }
  return use(static_cast<const char*>(nullptr));
}

Name* domain_of(void* handle) {
  return static_cast<Name*>(handle);
}

void domain_mark_ex(void* domain, const EventAttributes* attributes) {
  with_message(attributes, [&](auto text) { mark(domain_of(domain), text); });
}
std::uint64_t domain_range_start_ex(void* domain, const EventAttributes* attributes) {
  const std::uint64_t id = new_range_id();
  with_message(attributes, [&](auto text) { start(domain_of(domain), text, id); });
  return id;
}
void domain_range_end(void*, std::uint64_t id) {
  end(id);
}
int domain_range_push_ex(void* domain, const EventAttributes* attributes) {
  return with_message(attributes, [&](auto text) { return push(domain_of(domain), text); });
}
int domain_range_pop(void* domain) {
  return pop(domain_of(domain));
}
void* domain_register_string_a(void*, const char* text) {
  const Entry entry;
  return handle_of(entry, text);
}
void* domain_register_string_w(void*, const wchar_t* text) {
  const Entry entry;
  return handle_of(entry, text);
}
void* domain_create_a(const char* name) {
  return domain_register_string_a(nullptr, name);
}
void* domain_create_w(const wchar_t* name) {
  return domain_register_string_w(nullptr, name);
}
void domain_destroy(void*) {}
void initialize(const void*) {}

void mark_ex(const EventAttributes* attributes) {
  domain_mark_ex(nullptr, attributes);
}
void mark_a(const char* text) {
  mark(nullptr, text);
}
void mark_w(const wchar_t* text) {
  mark(nullptr, text);
}
std::uint64_t range_start_ex(const EventAttributes* attributes) {
  return domain_range_start_ex(nullptr, attributes);
}
std::uint64_t range_start_a(const char* text) {
  const std::uint64_t id = new_range_id();
  start(nullptr, text, id);
  return id;
}
std::uint64_t range_start_w(const wchar_t* text) {
  const std::uint64_t id = new_range_id();
  start(nullptr, text, id);
  return id;
}
void range_end(std::uint64_t id) {
  end(id);
}
int range_push_ex(const EventAttributes* attributes) {
  return domain_range_push_ex(nullptr, attributes);
}
int range_push_a(const char* text) {
  return push(nullptr, text);
}
int range_push_w(const wchar_t* text) {
  return push(nullptr, text);
}
int range_pop() {
  return pop(nullptr);
}

/// The table of a module. An older NVTX may have fewer entries.
class Table {
 public:
  Table(const nvtx::Callbacks& callbacks, nvtx::Module module) {
    if (callbacks.get_module_function_table(module, &table_, &size_) == 0) size_ = 0;
  }

  template <typename Callback>
  void set(std::uint32_t position, Callback* callback) {
    if (position >= size_ || table_ == nullptr || table_[position] == nullptr) return;
    *table_[position] = reinterpret_cast<nvtx::Function>(callback);
  }
  bool is_empty() const { return size_ == 0; }

 private:
  nvtx::FunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void fill_core(Table& table) {
  table.set(nvtx::core::kMarkEx, mark_ex);
  table.set(nvtx::core::kMarkA, mark_a);
  table.set(nvtx::core::kMarkW, mark_w);
  table.set(nvtx::core::kRangeStartEx, range_start_ex);
  table.set(nvtx::core::kRangeStartA, range_start_a);
  table.set(nvtx::core::kRangeStartW, range_start_w);
  table.set(nvtx::core::kRangeEnd, range_end);
  table.set(nvtx::core::kRangePushEx, range_push_ex);
  table.set(nvtx::core::kRangePushA, range_push_a);
  table.set(nvtx::core::kRangePushW, range_push_w);
  table.set(nvtx::core::kRangePop, range_pop);
}

void fill_core2(Table& table) {
  table.set(nvtx::core2::kDomainMarkEx, domain_mark_ex);
  table.set(nvtx::core2::kDomainRangeStartEx, domain_range_start_ex);
  table.set(nvtx::core2::kDomainRangeEnd, domain_range_end);
  table.set(nvtx::core2::kDomainRangePushEx, domain_range_push_ex);
  table.set(nvtx::core2::kDomainRangePop, domain_range_pop);
  table.set(nvtx::core2::kDomainRegisterStringA, domain_register_string_a);
  table.set(nvtx::core2::kDomainRegisterStringW, domain_register_string_w);
  table.set(nvtx::core2::kDomainCreateA, domain_create_a);
  table.set(nvtx::core2::kDomainCreateW, domain_create_w);
  table.set(nvtx::core2::kDomainDestroy, domain_destroy);
  table.set(nvtx::core2::kInitialize, initialize);
}

}  // namespace
}  // namespace profline::recorder

extern "C" {

// The name is NVTX's.
// NOLINTNEXTLINE(readability-identifier-naming)
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    profline::recorder::nvtx::GetExportTable get_export_table) {
  using namespace profline::recorder;
  // Without a folder, NVTX is better off without us: its functions then do nothing.
  if (!is_recording_requested() || get_export_table == nullptr) return 0;
  const auto* const callbacks =
      static_cast<const nvtx::Callbacks*>(get_export_table(nvtx::kCallbacksTable));
  if (callbacks == nullptr || callbacks->get_module_function_table == nullptr) return 0;
  Table core(*callbacks, nvtx::Module::Core);
  Table core2(*callbacks, nvtx::Module::Core2);
  if (core.is_empty() && core2.is_empty()) return 0;
  fill_core(core);
  fill_core2(core2);
  const auto* const version =
      static_cast<const nvtx::VersionInfo*>(get_export_table(nvtx::kVersionTable));
  if (version != nullptr && version->struct_size >= sizeof *version &&
      version->set_injection_version != nullptr) {
    version->set_injection_version(nvtx::kVersion);
  }
  return 1;
}

}  // extern "C"
