#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "records/ncu_kernels.h"

namespace profline {

/// A range that ncu replayed as a whole, over its instances.
struct NcuRegion {
  std::string name;    ///< labels of the ranges around it and its own: `A::A1`
  std::string parent;  ///< `A`; empty: none
  std::uint32_t depth = 0;
  std::string folder;  ///< below `ncu/regions`
  std::string process_name;
  std::int32_t device = 0;
  std::string device_name;
  std::uint64_t instances = 0;        ///< that were replayed
  std::optional<double> duration_ns;  ///< mean of an instance; null: not collected
  std::optional<double> total_ns;     ///< of all instances
  std::vector<NcuCounter> counters;   ///< means of an instance

  bool operator==(const NcuRegion&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegion>) {
  using schema::field;
  return std::tuple(
      field("name", &NcuRegion::name, "labels joined by ::, outermost first").required(),
      field("parent", &NcuRegion::parent, "name without the last label; empty: none").required(),
      field("depth", &NcuRegion::depth, "ranges around it").required(),
      field("folder", &NcuRegion::folder, "its own report, below ncu/regions").required(),
      field("process_name", &NcuRegion::process_name, "whose range it is").required(),
      field("device", &NcuRegion::device, "as CUDA counts them").required(),
      field("device_name", &NcuRegion::device_name, "empty: not told").required(),
      field("instances", &NcuRegion::instances, "that were replayed").required(),
      field("duration_ns", &NcuRegion::duration_ns, "mean of an instance; null: not collected"),
      field("total_ns", &NcuRegion::total_ns, "of all instances; null: not collected"),
      field("counters", &NcuRegion::counters, "means of an instance, in base units").required());
}

/// `ncu/regions/report.json`, with every region; `<folder>/report.json`, with one.
struct NcuRegions {
  static constexpr DocumentKind kKind{"ncu_regions", 1};

  std::string tool;         ///< `ncu 2024.1.1`
  std::string replay_mode;  ///< `range`, `app-range`
  std::vector<NcuRegion> regions;

  bool operator==(const NcuRegions&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegions>) {
  using schema::field;
  return std::tuple(field("tool", &NcuRegions::tool, "what captured").required(),
                    field("replay_mode", &NcuRegions::replay_mode, "range or app-range").required(),
                    field("regions", &NcuRegions::regions, "as they were first seen").required());
}

}  // namespace profline
