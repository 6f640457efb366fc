#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "inputs/dataset/dataset.h"
#include "records/repeated_phase.h"
#include "records/request.h"
#include "settings/root.h"
#include "settings/stage.h"
#include "workload/measure/device_clock.h"
#include "workload/measure/measured_scopes.h"
#include "workload/measure/metrics.h"
#include "workload/session/run_request.h"

namespace profline::workload {

/// What is run, and what is missing from the dataset.
struct Inputs {
  std::vector<dataset::Item> items;
  std::vector<std::string> notes;
};

/// The sampled images of the settings, cut to as many requests as the run may make.
Result<Inputs> choose_inputs(const RunRequest& request);

/// How a request was computed, besides its input.
struct Means {
  std::string dtype;
  std::uint32_t threads = 0;  ///< of libtorch on the CPU
  std::string engine;
};
/// Describes a request: its picture and how it was computed.
std::map<std::string, Node> attributes_of(const dataset::Item& item, const Means& means);

/// inputs.json, `profline.inputs/1`: each image once, with its bytes, digest and size. Images that
/// can no longer be read say why.
Node inputs_document(const std::string& dataset, const std::vector<dataset::Item>& items);

/// Where the model runs.
struct Machine {
  at::Device device;
  std::unique_ptr<DeviceClock> clock;
  std::uint32_t threads;

  bool is_gpu() const { return device.is_cuda(); }
};

/// The device of the settings, and the number of threads they specify (default: all cores). Auto is
/// the first CUDA device, else the CPU.
Result<Machine> open_machine(const settings::Root& settings);

at::ScalarType scalar_type(settings::Dtype dtype);
/// `bf16`, `fp16`, `fp32`
std::string dtype_text(settings::Dtype dtype);

/// How much of an image's answer is generated.
struct Extent {
  std::optional<std::int64_t> max_new_tokens{};  ///< in addition to the settings' own limit
  std::function<void()> on_token{};
  std::function<bool()> stopping{};
};

/// The outcome of one request.
struct Answer {
  Request request;                   ///< its id is not set
  std::vector<std::string> texts{};  ///< of each item; empty if the model writes none
  bool stopped = false;              ///< before its end, so the request must not be used
};

/// The items of one request.
using Items = std::span<const dataset::Item>;

/// Items in requests of at most `size` items of the same epoch, in their order.
std::vector<Items> in_requests(Items items, std::size_t size);

/// A loaded model with the inputs it will be run on.
class Subject {
 public:
  virtual ~Subject() = default;
  /// In the order in which they are run.
  virtual const std::vector<dataset::Item>& items() const = 0;
  /// How many items a request has at most.
  virtual std::size_t items_per_request() const { return 1; }
  std::vector<Items> requests() const { return in_requests(items(), items_per_request()); }
  /// One unmeasured inference, on grey pages of the sizes in the first request or on its images.
  virtual Result<void> warm_up(bool synthetic) = 0;
  /// `items` is one of requests().
  virtual Result<Answer> run(Items items, MeasuredScopes& scopes, const Extent& extent) = 0;

  /// Repeats each phase of a request alone for about this long, so that its energy can be measured.
  /// Empty: it has no phases that can be repeated.
  virtual Result<std::vector<RepeatedPhase>> repeat_phases(
      Items /*items*/, std::chrono::nanoseconds /*least*/,
      const std::function<bool()>& /*stopping*/) {
    return std::vector<RepeatedPhase>();
  }
  virtual std::optional<ModelDims> dims() const { return std::nullopt; }
  /// How it is run: `eager`, `fast`.
  virtual std::string engine() const { return "eager"; }
  /// Notes for the user.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Special tokens of its texts, for outputs that leave them out.
  virtual std::vector<std::string> special_tokens() const { return {}; }
  /// Whether items are pictures and `text` is what was read from them.
  virtual bool reads_pictures() const { return false; }
  /// Whether inner ranges also end with a device synchronisation.
  virtual bool synchronises_parts() const { return false; }
};

/// The subject that the settings name, completely loaded; the Error says what is missing.
Result<std::unique_ptr<Subject>> open_subject(const RunRequest& request, const Machine& machine,
                                              Progress& progress);

/// static_trace.json of the settings' model. An Error for a model that has no such trace.
Result<Node> trace_subject(const RunRequest& request);

// The two implementations, one file each.
Result<std::unique_ptr<Subject>> open_deepseek_subject(const RunRequest& request,
                                                       const Machine& machine, Progress& progress);
Result<Node> trace_deepseek(const RunRequest& request);

Result<std::unique_ptr<Subject>> open_dummy_subject(const RunRequest& request,
                                                    const Machine& machine);

/// An image with the text read from it.
struct ReadText {
  dataset::Item item;
  Request request;  ///< with the tokens of this image alone; its times are those of the batch
  std::string text;
};

/// What was read from each item of a request.
std::vector<ReadText> read_texts(Items items, const Request& request,
                                 std::span<const std::string> texts);

/// texts.jsonl: image, epoch, index and text of each image, in the order of requests.jsonl.
std::string texts_jsonl(std::span<const ReadText> texts);

/// Finds the texts of these items in a baseline's folder; items without one are left out.
Result<std::vector<ReadText>> load_texts(const std::filesystem::path& folder,
                                         std::span<const dataset::Item> items);

/// Writes what the output settings request below `folder`: predictions.jsonl, and pictures of the
/// first images. Returns the files and folders that now exist.
Result<std::vector<std::filesystem::path>> write_answers(const std::filesystem::path& folder,
                                                         const settings::Output& output,
                                                         const Subject& subject,
                                                         std::span<const ReadText> texts,
                                                         Progress& progress);

}  // namespace profline::workload
