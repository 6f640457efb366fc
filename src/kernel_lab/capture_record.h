#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

namespace profline::kernel_lab {

enum class CaptureState { Ok, Failed };
constexpr auto names(std::type_identity<CaptureState>) {
  using schema::named;
  return std::array{named(CaptureState::Ok, "ok"), named(CaptureState::Failed, "failed")};
}

/// `<kernel folder>/capture.json`: what became of one kernel.
struct CaptureRecord {
  static constexpr DocumentKind kKind{"kernel_capture", 1};

  std::string folder;
  std::string name;
  std::string regex;
  std::string description;
  CaptureState state = CaptureState::Failed;
  std::string problem;                    ///< why it failed; empty: it did not
  std::vector<std::string> notes;         ///< what a reader of the numbers must know
  std::vector<std::string> argv;          ///< empty: ncu was not started
  std::optional<std::uint64_t> launches;  ///< that match; none: nobody counted
  std::string choice;                     ///< which of them, in words
  std::uint64_t profiled = 0;
  std::vector<std::string> functions;      ///< kernels that were profiled, as ncu spells them
  std::optional<std::string> merged_with;  ///< the report that holds several kernels
  double wall_s = 0;

  bool operator==(const CaptureRecord&) const = default;
};
constexpr auto fields(std::type_identity<CaptureRecord>) {
  using schema::field;
  using R = CaptureRecord;
  return field_list(
      field("folder", &R::folder, "beside command.yaml").required(),
      field("name", &R::name, "of the kernel, as it was asked for").required(),
      field("regex", &R::regex, "what its name had to match").required(),
      field("description", &R::description, "for people").required(),
      field("state", &R::state, "whether there is a capture").required(),
      field("problem", &R::problem, "why there is none").required(),
      field("notes", &R::notes, "what a reader of the numbers must know").required(),
      field("argv", &R::argv, "of ncu; empty: it was not started").required(),
      field("launches", &R::launches, "that match; null: nobody counted").required(),
      field("choice", &R::choice, "which of them were profiled").required(),
      field("profiled", &R::profiled, "launches in the report").required(),
      field("functions", &R::functions, "kernels in the report, as ncu spells them").required(),
      field("merged_with", &R::merged_with, "report of several kernels; null: its own").required(),
      field("wall_s", &R::wall_s, "of the capture and its tables").required());
}

inline constexpr const char* kCaptureFile = "capture.json";

}  // namespace profline::kernel_lab
