#include "records/timeline.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/error.h"

namespace profline {
namespace {

struct CallRule {
  std::string_view prefix;  // after `cuda`, `cu` or `hip`
  CallKind kind;
};

// The first rule that matches applies: exceptions come before the rule.
constexpr std::array kCallRules = {
    CallRule{"LaunchHostFunc", CallKind::Other},
    CallRule{"Launch", CallKind::Launch},
    CallRule{"ExtLaunch", CallKind::Launch},
    CallRule{"ModuleLaunch", CallKind::Launch},
    CallRule{"ExtModuleLaunch", CallKind::Launch},
    CallRule{"GraphLaunch", CallKind::GraphLaunch},
    CallRule{"Memcpy", CallKind::Copy},
    CallRule{"MemPrefetch", CallKind::Copy},
    CallRule{"Memset", CallKind::Fill},
    CallRule{"DeviceSynchronize", CallKind::Synchronize},
    CallRule{"StreamSynchronize", CallKind::Synchronize},
    CallRule{"EventSynchronize", CallKind::Synchronize},
    CallRule{"CtxSynchronize", CallKind::Synchronize},
    CallRule{"ThreadSynchronize", CallKind::Synchronize},
    CallRule{"Malloc", CallKind::Memory},
    CallRule{"Free", CallKind::Memory},
    CallRule{"HostAlloc", CallKind::Memory},
    CallRule{"HostMalloc", CallKind::Memory},
    CallRule{"HostFree", CallKind::Memory},
    CallRule{"HostRegister", CallKind::Memory},
    CallRule{"HostUnregister", CallKind::Memory},
    CallRule{"MemAlloc", CallKind::Memory},
    CallRule{"MemFree", CallKind::Memory},
    CallRule{"MemHost", CallKind::Memory},
    CallRule{"MemCreate", CallKind::Memory},
    CallRule{"MemMap", CallKind::Memory},
    CallRule{"MemUnmap", CallKind::Memory},
    CallRule{"MemRelease", CallKind::Memory},
    CallRule{"MemAddress", CallKind::Memory},
    CallRule{"MemSetAccess", CallKind::Memory},
    CallRule{"MemPoolTrim", CallKind::Memory},
};

std::string_view without_library(std::string_view function) {
  for (const std::string_view library : {"cuda", "cu", "hip"}) {
    if (function.starts_with(library)) return function.substr(library.size());
  }
  return {};
}

struct CollectiveRule {
  std::string_view word;
  CollectiveKind kind;
};

// The first rule that the name contains applies: `reduce` is part of other names.
constexpr std::array kCollectiveRules = {
    CollectiveRule{"allreduce", CollectiveKind::AllReduce},
    CollectiveRule{"reducescatter", CollectiveKind::ReduceScatter},
    CollectiveRule{"allgather", CollectiveKind::AllGather},
    CollectiveRule{"alltoall", CollectiveKind::AllToAll},
    CollectiveRule{"gather", CollectiveKind::Gather},
    CollectiveRule{"scatter", CollectiveKind::Scatter},
    CollectiveRule{"broadcast", CollectiveKind::Broadcast},
    CollectiveRule{"reduce", CollectiveKind::Reduce},
    CollectiveRule{"send", CollectiveKind::Send},
    CollectiveRule{"recv", CollectiveKind::Receive},
};

std::string lower_case_letters(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

}  // namespace

Names::Id Names::id_of(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<Id>(texts_.size());
  index_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::optional<Names::Id> Names::find(std::string_view text) const {
  const auto found = index_.find(text);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

const std::string& Names::text(Id id) const {
  PL_ASSERT(id < texts_.size(), "ids come from the table they are used with");
  return texts_[id];
}

CallKind call_kind(std::string_view function) {
  const std::string_view action = without_library(function);
  const auto rule = std::ranges::find_if(
      kCallRules, [&](const CallRule& candidate) { return action.starts_with(candidate.prefix); });
  return rule == kCallRules.end() ? CallKind::Other : rule->kind;
}

bool is_call_name(std::string_view name) {
  const std::string_view action = without_library(name);
  return name == "INVALID" || (!action.empty() && action.front() >= 'A' && action.front() <= 'Z');
}

CollectiveKind collective_kind(std::string_view name) {
  const std::string letters = lower_case_letters(name);
  const auto rule = std::ranges::find_if(kCollectiveRules, [&](const CollectiveRule& candidate) {
    return letters.find(candidate.word) != std::string::npos;
  });
  return rule == kCollectiveRules.end() ? CollectiveKind::Unknown : rule->kind;
}

bool is_host_collective(std::string_view range) {
  return range.starts_with("gloo:") || range.starts_with("mpi:") || range.starts_with("ucc:");
}

namespace {

struct MetricNames {
  std::string_view text;
  std::string_view key;
};
constexpr std::array<MetricNames, kGpuMetrics> kMetricNames = {{
    {"SM active", "sm_active"},
    {"SM issue", "sm_issue"},
    {"tensor active", "tensor_active"},
    {"DRAM read", "dram_read"},
    {"DRAM write", "dram_write"},
    {"PCIe received", "pcie_receive"},
    {"PCIe sent", "pcie_send"},
    {"NVLink received", "nvlink_receive"},
    {"NVLink sent", "nvlink_send"},
}};

}  // namespace

std::string_view to_text(GpuMetric metric) {
  return kMetricNames[static_cast<std::size_t>(metric)].text;
}

std::string_view to_key(GpuMetric metric) {
  return kMetricNames[static_cast<std::size_t>(metric)].key;
}

}  // namespace profline
