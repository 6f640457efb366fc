#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/ncu_kernels.h"

namespace profline {

/// What adds up over regions. Times do not where ranges are replayed as a whole: each range waits
/// for the device at both ends and for the host in between, and ranges inside of another are
/// measured in a run of their own.
inline constexpr const char* kInstructions = "smsp__inst_executed.sum";

/// Where a region's time comes from.
enum class RegionSource {
  Range,     ///< ncu replayed it as a whole
  Kernels,   ///< the sum of the kernels that were profiled in it
  Children,  ///< nobody measured it: the sum of the regions in it
};
constexpr auto names(std::type_identity<RegionSource>) {
  using schema::named;
  return std::array{named(RegionSource::Range, "range"), named(RegionSource::Kernels, "kernels"),
                    named(RegionSource::Children, "children")};
}

/// A kernel in a region, at any depth.
struct NcuRegionKernel {
  std::string name;  ///< short
  std::uint64_t launches = 0;
  double total_ns = 0;

  bool operator==(const NcuRegionKernel&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegionKernel>) {
  using schema::field;
  return field_list(
      field("name", &NcuRegionKernel::name, "what people call it").required(),
      field("launches", &NcuRegionKernel::launches, "profiled in the region").required(),
      field("total_ns", &NcuRegionKernel::total_ns, "of these launches").required());
}

/// A range of the program over its instances, as ncu measured it.
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
  RegionSource source = RegionSource::Range;
  std::optional<double> inclusive_ns;  ///< all that is in it
  std::optional<double> exclusive_ns;  ///< what is in none of the regions in it
  std::optional<double> children_ns;  ///< inclusive time of the regions in it; null: there are none
  std::optional<double> instructions;           ///< of all instances (kInstructions)
  std::optional<double> children_instructions;  ///< of the regions in it
  /// Whether the children come to no more than the region itself, within one percent: in
  /// instructions where they were counted, else in time.
  std::optional<bool> reconciles;
  std::vector<NcuRegionKernel> kernels;  ///< most time first; of RegionSource::Kernels
  std::uint64_t launches_left_out = 0;   ///< by rules over kernels

  bool operator==(const NcuRegion&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegion>) {
  using schema::field;
  return field_list(
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
      field("counters", &NcuRegion::counters, "means of an instance, in base units").required(),
      field("source", &NcuRegion::source, "range: replayed as a whole; kernels, children: summed"),
      field("inclusive_ns", &NcuRegion::inclusive_ns, "all that is in it"),
      field("exclusive_ns", &NcuRegion::exclusive_ns, "what is in none of the regions in it"),
      field("children_ns", &NcuRegion::children_ns, "of the regions in it; null: there are none"),
      field("instructions", &NcuRegion::instructions, "of all instances; null: not counted"),
      field("children_instructions", &NcuRegion::children_instructions, "of the regions in it"),
      field("reconciles", &NcuRegion::reconciles,
            "children come to no more than the region, within one percent: in instructions where "
            "they were counted, else in time"),
      field("kernels", &NcuRegion::kernels, "of a sum: what it is the sum of, most time first"),
      field("launches_left_out", &NcuRegion::launches_left_out, "by rules over kernels"));
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
  return field_list(field("tool", &NcuRegions::tool, "what captured").required(),
                    field("replay_mode", &NcuRegions::replay_mode, "range or app-range").required(),
                    field("regions", &NcuRegions::regions, "as they were first seen").required());
}

}  // namespace profline
