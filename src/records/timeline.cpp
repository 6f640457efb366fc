#include "records/timeline.h"

#include <algorithm>
#include <array>

namespace profline {
namespace {

struct Rule {
  std::string_view prefix;  // after `cuda`, `cu` or `hip`
  CallKind kind;
};

// The first rule that matches applies: exceptions come before the rule.
constexpr std::array kRules = {
    Rule{"LaunchHostFunc", CallKind::Other},
    Rule{"Launch", CallKind::Launch},
    Rule{"ExtLaunch", CallKind::Launch},
    Rule{"ModuleLaunch", CallKind::Launch},
    Rule{"ExtModuleLaunch", CallKind::Launch},
    Rule{"GraphLaunch", CallKind::GraphLaunch},
    Rule{"Memcpy", CallKind::Copy},
    Rule{"MemPrefetch", CallKind::Copy},
    Rule{"Memset", CallKind::Fill},
    Rule{"DeviceSynchronize", CallKind::Synchronize},
    Rule{"StreamSynchronize", CallKind::Synchronize},
    Rule{"EventSynchronize", CallKind::Synchronize},
    Rule{"CtxSynchronize", CallKind::Synchronize},
    Rule{"ThreadSynchronize", CallKind::Synchronize},
    Rule{"Malloc", CallKind::Memory},
    Rule{"Free", CallKind::Memory},
    Rule{"HostAlloc", CallKind::Memory},
    Rule{"HostMalloc", CallKind::Memory},
    Rule{"HostFree", CallKind::Memory},
    Rule{"HostRegister", CallKind::Memory},
    Rule{"HostUnregister", CallKind::Memory},
    Rule{"MemAlloc", CallKind::Memory},
    Rule{"MemFree", CallKind::Memory},
    Rule{"MemHost", CallKind::Memory},
    Rule{"MemCreate", CallKind::Memory},
    Rule{"MemMap", CallKind::Memory},
    Rule{"MemUnmap", CallKind::Memory},
    Rule{"MemRelease", CallKind::Memory},
    Rule{"MemAddress", CallKind::Memory},
    Rule{"MemSetAccess", CallKind::Memory},
    Rule{"MemPoolTrim", CallKind::Memory},
};

std::string_view without_library(std::string_view function) {
  for (const std::string_view library : {"cuda", "cu", "hip"}) {
    if (function.starts_with(library)) return function.substr(library.size());
  }
  return {};
}

}  // namespace

CallKind call_kind(std::string_view function) {
  const std::string_view action = without_library(function);
  const auto rule = std::ranges::find_if(
      kRules, [&](const Rule& candidate) { return action.starts_with(candidate.prefix); });
  return rule == kRules.end() ? CallKind::Other : rule->kind;
}

bool is_call_name(std::string_view name) {
  const std::string_view action = without_library(name);
  return name == "INVALID" || (!action.empty() && action.front() >= 'A' && action.front() <= 'Z');
}

}  // namespace profline
