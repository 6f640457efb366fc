#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/field.h"
#include "schema/internal/example_for_tests.h"

namespace profline::example {

/// Forty fields of the usual kinds, more than any section of the config has: for benchmarks, of
/// compiling as well.
struct Wide {
  std::string name_1 = "prefill";
  std::string name_2 = "prefill";
  std::string name_3 = "prefill";
  std::string name_4 = "prefill";
  std::string name_5 = "prefill";
  std::vector<std::string> items_1{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_2{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_3{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_4{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_5{"SpeedOfLight", "Occupancy"};
  std::chrono::seconds timeout_1 = std::chrono::seconds(600);
  std::chrono::seconds timeout_2 = std::chrono::seconds(600);
  std::chrono::seconds timeout_3 = std::chrono::seconds(600);
  std::chrono::seconds timeout_4 = std::chrono::seconds(600);
  std::chrono::seconds timeout_5 = std::chrono::seconds(600);
  double share_1 = 0.5;
  double share_2 = 0.5;
  double share_3 = 0.5;
  double share_4 = 0.5;
  double share_5 = 0.5;
  std::optional<std::uint32_t> samples_1 = 1;
  std::optional<std::uint32_t> samples_2 = 1;
  std::optional<std::uint32_t> samples_3 = 1;
  std::optional<std::uint32_t> samples_4 = 1;
  std::optional<std::uint32_t> samples_5 = 1;
  std::int32_t count_1 = 3;
  std::int32_t count_2 = 3;
  std::int32_t count_3 = 3;
  std::int32_t count_4 = 3;
  std::int32_t count_5 = 3;
  CaptureRange range_1 = CaptureRange::Nvtx;
  CaptureRange range_2 = CaptureRange::Nvtx;
  CaptureRange range_3 = CaptureRange::Nvtx;
  CaptureRange range_4 = CaptureRange::Nvtx;
  CaptureRange range_5 = CaptureRange::Nvtx;
  bool flag_1 = true;
  bool flag_2 = true;
  bool flag_3 = true;
  bool flag_4 = true;
  bool flag_5 = true;

  bool operator==(const Wide&) const = default;
};
constexpr auto fields(std::type_identity<Wide>) {
  return field_list(field("flag_1", &Wide::flag_1, "what it is for"),
                    field("count_1", &Wide::count_1, "what it is for").at_least(1),
                    field("share_1", &Wide::share_1, "what it is for"),
                    field("name_1", &Wide::name_1, "what it is for"),
                    field("samples_1", &Wide::samples_1, "what it is for").at_least(1),
                    field("timeout_1", &Wide::timeout_1, "what it is for").at_least(1),
                    field("range_1", &Wide::range_1, "what it is for"),
                    field("items_1", &Wide::items_1, "what it is for"),
                    field("flag_2", &Wide::flag_2, "what it is for"),
                    field("count_2", &Wide::count_2, "what it is for").at_least(1),
                    field("share_2", &Wide::share_2, "what it is for"),
                    field("name_2", &Wide::name_2, "what it is for"),
                    field("samples_2", &Wide::samples_2, "what it is for").at_least(1),
                    field("timeout_2", &Wide::timeout_2, "what it is for").at_least(1),
                    field("range_2", &Wide::range_2, "what it is for"),
                    field("items_2", &Wide::items_2, "what it is for"),
                    field("flag_3", &Wide::flag_3, "what it is for"),
                    field("count_3", &Wide::count_3, "what it is for").at_least(1),
                    field("share_3", &Wide::share_3, "what it is for"),
                    field("name_3", &Wide::name_3, "what it is for"),
                    field("samples_3", &Wide::samples_3, "what it is for").at_least(1),
                    field("timeout_3", &Wide::timeout_3, "what it is for").at_least(1),
                    field("range_3", &Wide::range_3, "what it is for"),
                    field("items_3", &Wide::items_3, "what it is for"),
                    field("flag_4", &Wide::flag_4, "what it is for"),
                    field("count_4", &Wide::count_4, "what it is for").at_least(1),
                    field("share_4", &Wide::share_4, "what it is for"),
                    field("name_4", &Wide::name_4, "what it is for"),
                    field("samples_4", &Wide::samples_4, "what it is for").at_least(1),
                    field("timeout_4", &Wide::timeout_4, "what it is for").at_least(1),
                    field("range_4", &Wide::range_4, "what it is for"),
                    field("items_4", &Wide::items_4, "what it is for"),
                    field("flag_5", &Wide::flag_5, "what it is for"),
                    field("count_5", &Wide::count_5, "what it is for").at_least(1),
                    field("share_5", &Wide::share_5, "what it is for"),
                    field("name_5", &Wide::name_5, "what it is for"),
                    field("samples_5", &Wide::samples_5, "what it is for").at_least(1),
                    field("timeout_5", &Wide::timeout_5, "what it is for").at_least(1),
                    field("range_5", &Wide::range_5, "what it is for"),
                    field("items_5", &Wide::items_5, "what it is for"));
}

}  // namespace profline::example
