#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "formats/node.h"
#include "records/document.h"
#include "schema/field.h"

/// What was recorded of a user's program while it ran without a profiler, besides its requests.
/// docs/formats/program.md describes the files.
namespace profline {

/// All ranges of one name and domain that the recorder saw in a program, without a profiler.
struct NamedRanges {
  std::string name;
  std::string domain;            ///< empty: the default one
  std::uint64_t instances = 0;   ///< how often it opened
  std::uint64_t unfinished = 0;  ///< of those, never ended; the times are without them
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;

  bool operator==(const NamedRanges&) const = default;
};
constexpr auto fields(std::type_identity<NamedRanges>) {
  using schema::field;
  return field_list(
      field("name", &NamedRanges::name, "of the range").required(),
      field("domain", &NamedRanges::domain, "empty: the default one").required(),
      field("instances", &NamedRanges::instances, "how often it opened").required(),
      field("unfinished", &NamedRanges::unfinished, "of those, never ended").required(),
      field("total_ns", &NamedRanges::total_ns, "of those that ended").required(),
      field("min_ns", &NamedRanges::min_ns, "the shortest").required(),
      field("max_ns", &NamedRanges::max_ns, "the longest").required());
}

/// The parameters of a model, counted in the process that ran it.
struct ModelParameters {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint64_t> by_dtype;
  std::optional<std::uint64_t> tied;

  bool operator==(const ModelParameters&) const = default;
};
constexpr auto fields(std::type_identity<ModelParameters>) {
  return field_list(
      field("count", &ModelParameters::count, "elements, shared ones once").required(),
      field("bytes", &ModelParameters::bytes, "in memory").required(),
      field("by_dtype", &ModelParameters::by_dtype, "elements by type: bfloat16, float32"),
      field("tied", &ModelParameters::tied, "elements that two or more layers share"));
}

/// A model that the program's requests used.
struct RecordedModel {
  std::int64_t pid = 0;
  std::uint64_t id = 0;
  std::string name;
  Node config = Node::map();
  ModelParameters parameters;
  std::optional<std::uint64_t> buffers_bytes;
  std::optional<std::string> dtype;
  std::optional<std::string> device;
  Node quantization;
  std::optional<bool> compiled;
  std::optional<std::string> attention;

  bool operator==(const RecordedModel&) const = default;
};
constexpr auto fields(std::type_identity<RecordedModel>) {
  return field_list(
      field("pid", &RecordedModel::pid, "of its process"),
      field("id", &RecordedModel::id, "in its process; the attribute `model` of requests")
          .required(),
      field("class", &RecordedModel::name, "of the Python object: Qwen3ForCausalLM").required(),
      field("config", &RecordedModel::config, "the model's configuration, as in its config.json"),
      field("parameters", &RecordedModel::parameters, "counted in the process"),
      field("buffers_bytes", &RecordedModel::buffers_bytes, "of tensors that are no parameters"),
      field("dtype", &RecordedModel::dtype, "of its first parameter: bfloat16"),
      field("device", &RecordedModel::device, "of its first parameter: cuda:0"),
      field("quantization", &RecordedModel::quantization, "the model's own settings; null: none"),
      field("compiled", &RecordedModel::compiled, "whether torch.compile wraps it"),
      field("attention", &RecordedModel::attention, "its implementation: sdpa, flash_attention_2"));
}

/// `baseline/models.json`.
struct RecordedModels {
  static constexpr DocumentKind kKind{"models", 1};

  std::vector<RecordedModel> models;

  bool operator==(const RecordedModels&) const = default;
};
constexpr auto fields(std::type_identity<RecordedModels>) {
  return field_list(field("models", &RecordedModels::models, "in the order of their first use"));
}

/// `baseline/ranges.json`: the ranges of a program that has no requests.
struct ProgramRanges {
  static constexpr DocumentKind kKind{"recorded_ranges", 1};

  std::vector<NamedRanges> ranges;
  std::uint64_t lost = 0;

  bool operator==(const ProgramRanges&) const = default;
};
constexpr auto fields(std::type_identity<ProgramRanges>) {
  return field_list(field("ranges", &ProgramRanges::ranges, "by name, most time first"),
                    field("lost", &ProgramRanges::lost, "ranges that could not be recorded"));
}

/// `baseline/steady.json`: the requests of one process that profilers look at.
struct SteadyWindow {
  static constexpr DocumentKind kKind{"steady", 1};

  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t requests = 0;
  std::optional<std::uint64_t> in_process{};
  std::string reason;
  std::optional<std::uint32_t> steps{};
  std::vector<std::string> processes{};

  bool operator==(const SteadyWindow&) const = default;
};
constexpr auto fields(std::type_identity<SteadyWindow>) {
  return field_list(
      field("first", &SteadyWindow::first,
            "the first of them, counted from 0 by start, in each process by itself if several "
            "made requests of Python")
          .required(),
      field("count", &SteadyWindow::count, "how many follow each other").required(),
      field("requests", &SteadyWindow::requests, "of the program in all").required(),
      field("in_process", &SteadyWindow::in_process,
            "of the process that made most of them, in which they were chosen; null or left out: "
            "there is only one"),
      field("reason", &SteadyWindow::reason, "why these").required(),
      field("steps", &SteadyWindow::steps,
            "steps to capture of each phase that repeats; null or left out: all"),
      field("processes", &SteadyWindow::processes,
            "how the Python processes that made requests were started; the others are traced by "
            "Kineto on demand"));
}

}  // namespace profline
