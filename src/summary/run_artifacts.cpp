#include "summary/run_artifacts.h"

#include <algorithm>

#include "base/files.h"
#include "formats/json.h"
#include "records/redacted_run.h"
#include "tools/torch_profiler/trace_reader.h"

namespace profline::summary {
namespace {

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  bool has(const std::string& file) const {
    std::error_code ignored;
    return std::filesystem::exists(path_ / file, ignored);
  }
  /// The file as `read` makes it of its text.
  template <typename T, typename Read>
  Artifact<T> text(const std::string& file, const Read& read) const {
    return made<T>(file, [&](const std::filesystem::path& path) -> Result<T> {
      const std::string text = PL_TRY(read_file(path));
      return read(text, path.string());
    });
  }
  template <typename T>
  Artifact<T> document(const std::string& file) const {
    return text<T>(file, [](const std::string& text, const std::string& source) {
      return from_document<T>(text, source);
    });
  }
  /// What `read` makes of the path; an absent file is not an unreadable one.
  template <typename T, typename Read>
  Artifact<T> made(const std::string& file, const Read& read) const {
    Artifact<T> artifact;
    artifact.file = file;
    artifact.is_there = has(artifact.file);
    if (!artifact.is_there) {
      artifact.why_not = "is not there";
      return artifact;
    }
    Result<T> content = read(path_ / artifact.file);
    if (content) {
      artifact.content = std::move(content).value();
    } else {
      artifact.why_not = without_folder(content.error().to_string());
    }
    return artifact;
  }
  bool has_folder(const std::filesystem::path& name) const {
    std::error_code ignored;
    return std::filesystem::is_directory(path_ / name, ignored);
  }
  std::vector<std::string> folders_in(const std::string& name) const {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_ / name, ignored)) {
      if (entry.is_directory(ignored)) found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  /// Messages name files as the report does, from the run's folder on: it may be moved.
  std::string without_folder(std::string message) const {
    const std::string prefix = (path_ / "").string();
    for (std::size_t at = message.find(prefix); at != std::string::npos;
         at = message.find(prefix, at)) {
      message.erase(at, prefix.size());
    }
    return message.substr(0, message.find('\n'));
  }

  std::filesystem::path path_;
};

Result<settings::Root> read_config(const std::string& text, const std::string& source) {
  Node config = PL_TRY(parse_json(text, source));
  if (config.is_map()) config.as_map().erase("schema");
  return settings::read_settings(config);
}

Result<Environment> read_environment(const std::string& text, const std::string& source) {
  return schema::read<Environment>(PL_TRY(parse_document(text, {"env", 1}, source)));
}

Result<std::map<std::string, InputSize>> read_inputs(const std::string& text,
                                                     const std::string& source) {
  const Node document = PL_TRY(parse_document(text, {"inputs", 1}, source));
  std::map<std::string, InputSize> sizes;
  const Node* images = document.find("images");
  if (images == nullptr || !images->is_list()) return sizes;
  for (const Node& image : images->as_list()) {
    const Node* name = image.find("image");
    const Node* width = image.find("width");
    const Node* height = image.find("height");
    const auto is_size = [](const Node* node) {
      return node != nullptr && node->is_int() && node->as_int() > 0 && node->as_int() < (1 << 24);
    };
    if (name == nullptr || !name->is_string() || !is_size(width) || !is_size(height)) continue;
    sizes[name->as_string()] = {static_cast<std::uint32_t>(width->as_int()),
                                static_cast<std::uint32_t>(height->as_int())};
  }
  return sizes;
}

std::vector<ProfiledSamples> read_profiled(const Folder& folder) {
  std::vector<ProfiledSamples> all;
  for (const char* stage : {"torch_profiler", "nsys", "ncu"}) {
    const auto add = [&](const std::string& below, const std::string& gate) {
      const std::string file = below + "/workload/samples.jsonl";
      all.push_back({stage, gate, folder.text<Samples>(file, parse_samples)});
    };
    if (!folder.has_folder(stage)) continue;
    if (folder.has_folder(std::filesystem::path(stage) / "workload")) add(stage, "");
    for (const std::string& region : folder.folders_in(stage)) {
      if (folder.has_folder(std::filesystem::path(stage) / region / "workload")) {
        add(std::string(stage) + "/" + region, region);
      }
    }
  }
  return all;
}

}  // namespace

Result<RunArtifacts> read_run(const std::filesystem::path& path) {
  RunArtifacts run;
  run.folder = path;
  // Runs of older versions hold secrets; their reports do not.
  run.run = redacted(PL_TRY(read_run_record(path)), Redactor());
  const Folder folder(path);
  run.settings = folder.text<settings::Root>("config.resolved.json", read_config);
  run.environment = folder.text<Environment>("env.json", read_environment);
  run.baseline = folder.text<Samples>("baseline/samples.jsonl", parse_samples);
  run.metrics = folder.text<Node>("baseline/metrics.json",
                                  [](const std::string& text, const std::string& source) {
                                    return parse_document(text, {"metrics", 1}, source);
                                  });
  run.process = folder.text<Node>("baseline/process.json",
                                  [](const std::string& text, const std::string& source) {
                                    return parse_document(text, {"process", 1}, source);
                                  });
  run.inputs = folder.text<std::map<std::string, InputSize>>("baseline/inputs.json", read_inputs);
  run.static_costs = folder.text<StaticCosts>(
      "static_analysis/static_compute.json",
      [](const std::string& text, const std::string& source) -> Result<StaticCosts> {
        return read_static_costs(PL_TRY(parse_document(text, {"static_compute", 1}, source)));
      });
  run.operators = folder.document<TorchOperators>("torch_profiler/operators.json");
  const bool is_compressed =
      !folder.has("torch_profiler/trace.json") && folder.has("torch_profiler/trace.json.gz");
  run.trace = folder.made<Timeline>(
      is_compressed ? "torch_profiler/trace.json.gz" : "torch_profiler/trace.json",
      [](const std::filesystem::path& file) { return torch_profiler::read_trace(file); });
  run.nsys_ranges = folder.document<NsysRanges>("nsys/ranges.json");
  run.nsys_kernels = folder.document<NsysKernels>("nsys/kernels.json");
  run.ncu_kernels = folder.document<NcuKernels>("ncu/kernels.json");
  run.profiled = read_profiled(folder);
  return run;
}

}  // namespace profline::summary
