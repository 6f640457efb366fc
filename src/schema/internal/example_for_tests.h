#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"

/// A config of the size and kinds of the real one, for tests and benchmarks.
namespace profline::example {

enum class Enable { No, Yes, Auto };
constexpr auto names(std::type_identity<Enable>) {
  return std::array{named(Enable::Yes, true), named(Enable::No, false),
                    named(Enable::Auto, "auto")};
}

enum class CaptureRange { None, Nvtx, CudaProfilerApi, Hotkey };
constexpr auto names(std::type_identity<CaptureRange>) {
  return std::array{named(CaptureRange::None, "none"), named(CaptureRange::Nvtx, "nvtx"),
                    named(CaptureRange::CudaProfilerApi, "cudaProfilerApi"),
                    named(CaptureRange::Hotkey, "hotkey")};
}

struct Nsys {
  Enable enable = Enable::No;
  schema::CommaList trace{{"cuda", "nvtx", "osrt"}};
  CaptureRange capture_range = CaptureRange::None;
  std::optional<schema::OneOrMore> nvtx_capture = schema::OneOrMore{{"prefill"}};
  bool gating_nvtx = true;
  std::optional<std::uint32_t> samples = 1;
  std::optional<std::chrono::seconds> timeout;

  bool operator==(const Nsys&) const = default;
};
constexpr auto fields(std::type_identity<Nsys>) {
  return field_list(
      field("enable", &Nsys::enable, "run this stage; auto: if its preflight passes"),
      field("trace", &Nsys::trace, "what nsys records"),
      field("capture_range", &Nsys::capture_range, "what opens the capture"),
      field("nvtx_capture", &Nsys::nvtx_capture, "ranges to capture, one run each"),
      field("gating_nvtx", &Nsys::gating_nvtx, "false turns nvtx gating off"),
      field("samples", &Nsys::samples, "first images of the baseline's list; null: all")
          .at_least(1),
      field("timeout", &Nsys::timeout, "end the tool after this long").at_least(1));
}
inline Checks validate(const Nsys& nsys) {
  Checks checks;
  const bool has_range = nsys.nvtx_capture && !nsys.nvtx_capture->items.empty();
  if (nsys.capture_range == CaptureRange::Nvtx && nsys.gating_nvtx && !has_range) {
    checks.fail(nsys.nvtx_capture, "must name a range when capture_range is nvtx");
  }
  return checks;
}

struct NcuNvtx {
  std::optional<schema::SemicolonList> include;

  bool operator==(const NcuNvtx&) const = default;
};
constexpr auto fields(std::type_identity<NcuNvtx>) {
  return field_list(field("include", &NcuNvtx::include, "only kernels in these ranges"));
}

struct NcuCli {
  std::string set = "roofline";
  NcuNvtx nvtx;
  std::optional<schema::CommaList> metrics;
  std::vector<std::string> sections{"SpeedOfLight", "Occupancy"};
  std::optional<std::uint32_t> launch_count;

  bool operator==(const NcuCli&) const = default;
};
constexpr auto fields(std::type_identity<NcuCli>) {
  return field_list(field("set", &NcuCli::set, "section set"),
                    field("nvtx", &NcuCli::nvtx, "gates by NVTX range"),
                    field("metrics", &NcuCli::metrics, "metrics beside those of the set"),
                    field("sections", &NcuCli::sections, "sections beside those of the set"),
                    field("launch_count", &NcuCli::launch_count, "kernels to profile").at_least(1));
}

struct Ncu {
  Enable enable = Enable::No;
  NcuCli ncu_cli;
  std::optional<std::int32_t> max_launches = 2000;

  bool operator==(const Ncu&) const = default;
};
constexpr auto fields(std::type_identity<Ncu>) {
  return field_list(
      field("enable", &Ncu::enable, "run this stage"),
      field("ncu_cli", &Ncu::ncu_cli, "options of ncu itself"),
      field("max_launches", &Ncu::max_launches, "bound when nothing else bounds the capture")
          .at_least(1));
}
inline Checks validate(const Ncu& ncu) {
  Checks checks;
  const bool both = ncu.ncu_cli.launch_count && ncu.max_launches;
  if (both && static_cast<std::int64_t>(*ncu.ncu_cli.launch_count) > *ncu.max_launches) {
    checks.fail("launch_count is above max_launches");
    checks.fail(ncu.max_launches, "must be at least ncu_cli.launch_count, or null");
    checks.fail(ncu.ncu_cli.launch_count, "must be at most max_launches");
  }
  return checks;
}

struct ModelOutput {
  std::uint16_t max_images = 16;
  std::filesystem::path save_dir = "viz";

  bool operator==(const ModelOutput&) const = default;
};
constexpr auto fields(std::type_identity<ModelOutput>) {
  return field_list(
      field("max_images", &ModelOutput::max_images, "pictures to write").range(1, 512),
      field("save_dir", &ModelOutput::save_dir, "where, below the stage's folder"));
}

enum class Activity { Cpu, Cuda };
constexpr auto names(std::type_identity<Activity>) {
  return std::array{named(Activity::Cpu, "cpu"), named(Activity::Cuda, "cuda")};
}

struct TorchProfiler {
  Enable enable = Enable::Yes;
  Enable enabled = Enable::Yes;
  std::vector<Activity> activities{Activity::Cpu, Activity::Cuda};
  std::map<std::string, ModelOutput> extra;

  bool operator==(const TorchProfiler&) const = default;
};
constexpr auto fields(std::type_identity<TorchProfiler>) {
  return field_list(
      field("enable", &TorchProfiler::enable, "run this stage"),
      field("enabled", &TorchProfiler::enabled, "the same").deprecated("use 'enable'"),
      field("activities", &TorchProfiler::activities, "what is recorded"),
      field("extra", &TorchProfiler::extra, "output by model"));
}

struct Pipeline {
  TorchProfiler torch_profiler;
  Nsys nsys;
  Ncu ncu;
  bool keep_going = true;

  bool operator==(const Pipeline&) const = default;
};
constexpr auto fields(std::type_identity<Pipeline>) {
  return field_list(field("torch_profiler", &Pipeline::torch_profiler, "PyTorch profiler"),
                    field("nsys", &Pipeline::nsys, "Nsight Systems"),
                    field("ncu", &Pipeline::ncu, "Nsight Compute"),
                    field("keep_going", &Pipeline::keep_going, "go on after a failed stage"));
}

struct Infer {
  std::int32_t max_new_tokens = 0;
  double temperature = 0.0;
  std::optional<double> top_p;
  std::string prompt = "<image>\n<|grounding|>Convert.";

  bool operator==(const Infer&) const = default;
};
constexpr auto fields(std::type_identity<Infer>) {
  return field_list(
      field("max_new_tokens", &Infer::max_new_tokens, "tokens to generate").above(0).required(),
      field("temperature", &Infer::temperature, "of sampling").at_least(0),
      field("top_p", &Infer::top_p, "nucleus of sampling").above(0).at_most(1),
      field("prompt", &Infer::prompt, "with `<image>` where the page goes"));
}

struct Config {
  std::string experiment;
  std::int64_t image_size = 640;
  Infer infer;
  Pipeline pipeline;
  Node vars = Node::map();

  bool operator==(const Config&) const = default;
};
constexpr auto fields(std::type_identity<Config>) {
  return field_list(
      field("experiment", &Config::experiment, "free text, shown in the report"),
      field("image_size", &Config::image_size, "of a tile").unit("px").range(64, 4096),
      field("infer", &Config::infer, "generation"),
      field("pipeline", &Config::pipeline, "the stages"),
      field("vars", &Config::vars, "values to refer to"),
      removed("run", "use pipeline.<stage>.enable"));
}

}  // namespace profline::example

/// Trees as literals, with places as if they had been read from a YAML file in block style.
namespace profline::schema::testing {

/// `Tree{{"a", 1}, {"b", list({1.5, "x"})}}`.
class Tree {
 public:
  Tree(Node node) : node_(std::move(node)) {}  // NOLINT(google-explicit-constructor)
  Tree(std::nullptr_t) {}                      // NOLINT(google-explicit-constructor)
  Tree(std::same_as<bool> auto value)          // NOLINT(google-explicit-constructor)
      : node_(Node::boolean(value)) {}
  Tree(int value) : node_(Node::integer(value)) {}           // NOLINT(google-explicit-constructor)
  Tree(std::int64_t value) : node_(Node::integer(value)) {}  // NOLINT(google-explicit-constructor)
  Tree(double value) : node_(Node::real(value)) {}           // NOLINT(google-explicit-constructor)
  Tree(const char* value) : node_(Node::string(value)) {}    // NOLINT(google-explicit-constructor)
  Tree(std::initializer_list<std::pair<Tree, Tree>> entries) : node_(Node::map()) {
    for (const auto& [key, value] : entries) node_.as_map().set(key.node_, value.node_);
  }

  const Node& node() const { return node_; }

 private:
  Node node_;
};

inline Tree list(std::initializer_list<Tree> items) {
  Node::List nodes;
  for (const Tree& item : items) nodes.push_back(item.node());
  return Node::list(std::move(nodes));
}

/// Gives every node the place it would have in
///
///   a: 1
///   b:
///     - 1.5
///     - x
class Layout {
 public:
  explicit Layout(std::string source)
      : source_(std::make_shared<const std::string>(std::move(source))) {}

  Node place(const Node& node) { return placed(node, 1); }

 private:
  Mark mark(std::size_t column) const {
    return {source_, line_, static_cast<std::uint32_t>(column)};
  }

  Node placed(const Node& node, std::size_t column) {
    if (node.is_map() && !node.as_map().empty()) return placed_map(node.as_map(), column);
    if (node.is_list() && !node.as_list().empty()) return placed_list(node.as_list(), column);
    Node out = node;
    out.set_mark(mark(column));
    ++line_;
    return out;
  }

  Node placed_map(const NodeMap& entries, std::size_t column) {
    const Mark start = mark(column);
    NodeMap out;
    for (const auto& [key, value] : entries) {
      Node placed_key = key;
      placed_key.set_mark(mark(column));
      const bool nested = !value.is_scalar();
      const std::size_t key_width = key.is_string() ? key.as_string().size() : 4;
      if (nested) ++line_;
      out.set(std::move(placed_key), placed(value, nested ? column + 2 : column + key_width + 2));
    }
    Node map = Node::map(std::move(out));
    map.set_mark(start);
    return map;
  }

  Node placed_list(const Node::List& items, std::size_t column) {
    const Mark start = mark(column);
    Node::List out;
    for (const Node& item : items) out.push_back(placed(item, column + 2));
    Node list = Node::list(std::move(out));
    list.set_mark(start);
    return list;
  }

  std::shared_ptr<const std::string> source_;
  std::uint32_t line_ = 1;
};

/// The tree as it would have been read from `a.yaml`.
inline Node yaml(const Tree& tree) {
  return Layout("a.yaml").place(tree.node());
}

}  // namespace profline::schema::testing
