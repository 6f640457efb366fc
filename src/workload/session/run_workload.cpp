#include <algorithm>

#include "base/files.h"
#include "formats/json.h"
#include "records/range_use.h"
#include "run/names/artifact_names.h"
#include "schema/scalar_codecs.h"
#include "tools/gpu/driver.h"
#include "workload/measure/metrics.h"
#include "workload/measure/range.h"
#include "workload/profiler/record.h"
#include "workload/session/internal/repetition.h"
#include "workload/session/internal/subject.h"
#include "workload/session/run_request.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

namespace fs = std::filesystem;

Result<void> write_document(const fs::path& path, const Node& document) {
  return write_file_atomic(path, PL_TRY(write_json(document)));
}

/// `image page-0001`, `images page-0001, page-0002`
std::string name_of(Items items) {
  std::string names;
  for (const dataset::Item& item : items) names += (names.empty() ? "" : ", ") + item.image.name;
  return (items.size() == 1 ? "image " : "images ") + names;
}

/// The requests so far, and what was read from each of their images.
struct Answers {
  std::vector<Request> requests;
  std::vector<ReadText> texts;

  void add(Items items, Answer answer) {
    answer.request.id = requests.size();
    for (ReadText& read : read_texts(items, answer.request, answer.texts)) {
      texts.push_back(std::move(read));
    }
    requests.push_back(std::move(answer.request));
  }
};

/// One run, from start to files.
class Session {
 public:
  Session(const RunRequest& request, const RunServices& services)
      : request_(request), services_(services) {}

  Result<void> run() {
    Step step(services_.progress, schema::name_of(request_.mode));
    Result<void> done = carry_out();
    if (!done) {
      const bool cancelled = done.error().kind() == ErrorKind::Cancelled;
      step.end(cancelled ? StepOutcome::Cancelled : StepOutcome::Failed);
      return done;
    }
    step.end(StepOutcome::Ok);
    return {};
  }

 private:
  const settings::Pipeline& pipeline() const { return request_.settings.pipeline; }
  bool stopping() const { return services_.stopping && services_.stopping(); }

  Result<void> carry_out() {
    PL_TRY(create_folders(request_.out));
    return request_.mode == Mode::StaticTrace ? trace() : measure();
  }

  void note(std::string text) {
    services_.progress.warning(text);
    notes_.push_back(std::move(text));
  }

  Result<void> trace() {
    return write_document(request_.out / run::files::kStaticTrace, PL_TRY(trace_subject(request_)));
  }

  Result<void> measure() {
    const Machine machine = PL_TRY(open_machine(request_.settings));
    const std::unique_ptr<Subject> subject =
        PL_TRY(open_subject(request_, machine, services_.progress));
    for (std::string& text : subject->notes()) note(std::move(text));
    if (!has_nvtx()) note("NVTX: built without its headers, so profilers see no ranges");
    PL_TRY(warm_up(*subject));
    PL_TRY(request_.mode == Mode::TorchProfiler ? profile(machine, *subject)
                                                : run_images(machine, *subject));
    PL_TRY(write_document(request_.out / run::files::kWorkloadFacts, facts(machine, *subject)));
    if (stopped_)
      return Error(ErrorKind::Cancelled, "stopped; what was complete by then has been written");
    return {};
  }

  Result<void> warm_up(Subject& subject) {
    const bool profiles = request_.mode == Mode::TorchProfiler;
    const std::uint32_t rounds =
        profiles ? pipeline().torch_profiler.warmup_rounds : pipeline().baseline.warmup_rounds;
    const bool synthetic = profiles ? pipeline().torch_profiler.warmup_synthetic
                                    : pipeline().baseline.warmup_synthetic;
    if (rounds == 0) return {};
    const Range range(kWarmUpRange);
    Loop loop(services_.progress, "warm-up rounds", rounds);
    for (std::uint32_t i = 0; i < rounds && !stopping(); ++i) {
      PL_TRY(subject.warm_up(synthetic).during("warming up"));
      loop.advance();
    }
    return {};
  }

  MeasuredScopes::Options scope_options(const Subject& subject) const {
    return {.step_ranges = pipeline().workload.nvtx_steps,
            .synchronise_all = subject.synchronises_parts()};
  }

  /// Samples the GPU while images are run; absent without a GPU or NVML.
  std::unique_ptr<gpu::GpuSampler> watch_gpu(const Machine& machine) {
    if (!machine.is_gpu()) return nullptr;
    auto nvml = gpu::Nvml::open(device_uuid(machine.device));
    if (nvml) return std::make_unique<gpu::GpuSampler>(std::move(*nvml));
    note("clocks, power and temperature are not sampled: " + nvml.error().to_string());
    return nullptr;
  }

  Result<void> run_images(const Machine& machine, Subject& subject) {
    MeasuredScopes scopes(*machine.clock, scope_options(subject));
    const std::unique_ptr<gpu::GpuSampler> sampler = watch_gpu(machine);
    Answers answers;
    {
      Loop loop(services_.progress, "images", subject.items().size());
      for (const Items& items : subject.requests()) {
        stopped_ = stopping();
        if (stopped_) break;
        Answer answer = PL_TRY(run_request(subject, items, scopes).during(name_of(items)));
        stopped_ = answer.stopped;
        if (stopped_) break;
        answers.add(items, std::move(answer));
        for (std::size_t i = 0; i < items.size(); ++i) loop.advance();
      }
    }
    PL_TRY(write_results(machine, subject, answers));
    if (!sampler) return {};
    if (request_.mode == Mode::Baseline && !stopped_) PL_TRY(repeat(subject));
    return write_file_atomic(request_.out / run::files::kGpuReadings, to_jsonl(sampler->stop()));
  }

  /// After everything else has been written: it may fail, for example because memory runs out.
  Result<void> repeat(Subject& subject) {
    auto failed = repeat_phases(subject, request_.out, services_.stopping);
    if (!failed) {
      stopped_ = failed.error().kind() == ErrorKind::Cancelled;
      return stopped_ ? Result<void>() : std::move(failed).error();
    }
    if (*failed) note(std::move(**failed));
    return {};
  }

  /// Tokens are shown only when nothing is measured.
  Result<Answer> run_request(Subject& subject, Items items, MeasuredScopes& scopes) {
    Extent extent;
    extent.stopping = services_.stopping;
    std::optional<Loop> tokens;
    if (request_.mode == Mode::DirectInference && subject.reads_pictures()) {
      tokens.emplace(services_.progress, "tokens", std::nullopt);
      extent.on_token = [&] { tokens->advance(); };
    }
    return subject.run(items, scopes, extent);
  }

  Result<void> write_requests(const fs::path& folder, std::span<const Request> requests) {
    std::string lines;
    for (const Request& request : requests) lines += to_json_line(request) + '\n';
    PL_TRY(create_folders(folder));
    return write_file_atomic(folder / run::files::kRequests, lines);
  }

  Result<void> write_results(const Machine& machine, const Subject& subject,
                             const Answers& answers) {
    PL_TRY(write_requests(request_.out, answers.requests));
    const std::vector<ReadText>& texts = answers.texts;
    if (request_.mode == Mode::Profiled) return {};
    const std::string& dataset = request_.settings.dataset.name();
    if (subject.reads_pictures()) {
      PL_TRY(write_document(request_.out / run::files::kReadInputs,
                            inputs_document(dataset, subject.items())));
    }
    if (request_.mode == Mode::DirectInference) {
      const settings::Output& output = pipeline().direct_inference.output;
      return announce(
          PL_TRY(write_answers(request_.out, output, subject, texts, services_.progress)));
    }
    if (subject.reads_pictures()) {
      PL_TRY(write_file_atomic(request_.out / run::files::kTexts, texts_jsonl(texts)));
    }
    return write_metrics(machine, subject, answers.requests);
  }

  Result<void> write_metrics(const Machine& machine, const Subject& subject,
                             std::span<const Request> requests) {
    MetricsContext context{.device = machine.device.str(), .model_dims = subject.dims()};
    if (!machine.is_gpu()) context.ceilings = measure_cpu_ceilings(services_.clock);
    return write_document(request_.out / run::files::kMetrics, metrics_document(requests, context));
  }

  /// The first request: its prefill and this many tokens.
  Result<void> profile(const Machine& machine, Subject& subject) {
    const settings::TorchProfiler& settings = pipeline().torch_profiler;
    MeasuredScopes scopes(*machine.clock, scope_options(subject));
    const Items items = subject.requests().front();
    Extent extent;
    extent.stopping = services_.stopping;
    if (settings.decode_steps) extent.max_new_tokens = std::int64_t{1} + *settings.decode_steps;
    std::vector<Request> profiled;
    auto remarks =
        PL_TRY(write_torch_profile(settings, machine.is_gpu(), request_.out, [&]() -> Result<void> {
          Answer answer = PL_TRY(subject.run(items, scopes, extent));
          machine.clock->synchronise();
          stopped_ = answer.stopped;
          profiled.push_back(std::move(answer.request));
          return {};
        }));
    for (std::string& remark : remarks) note(std::move(remark));
    PL_TRY(write_requests(request_.out / "workload", profiled));
    if (!request_.baseline || !subject.reads_pictures()) return {};
    const std::vector<ReadText> texts = PL_TRY(load_texts(*request_.baseline, subject.items()));
    return announce(
        PL_TRY(write_answers(request_.out, settings.output, subject, texts, services_.progress)));
  }

  Result<void> announce(const std::vector<fs::path>& written) {
    for (const fs::path& path : written) services_.progress.message("wrote " + path.string());
    return {};
  }

  /// workload.json: what this run was, and notes for the user.
  Node facts(const Machine& machine, const Subject& subject) const {
    NodeMap map;
    map.set("schema", Node::string("profline.workload/1"));
    map.set("mode", Node::string(std::string(schema::name_of(request_.mode))));
    map.set("device", Node::string(machine.device.str()));
    map.set("device_uuid", machine.is_gpu() ? Node::string(device_uuid(machine.device)) : Node());
    map.set("threads", Node::integer(machine.threads));
    map.set("engine", Node::string(subject.engine()));
    map.set("nvtx", Node::boolean(has_nvtx()));
    map.set("torch", to_node(torch_build()));
    map.set("complete", Node::boolean(!stopped_));
    Node notes = Node::list();
    for (const std::string& text : notes_) notes.as_list().push_back(Node::string(text));
    map.set("notes", std::move(notes));
    return Node::map(std::move(map));
  }

  const RunRequest& request_;
  const RunServices& services_;
  std::vector<std::string> notes_;
  bool stopped_ = false;
};

}  // namespace

Result<void> run_workload(const RunRequest& request, const RunServices& services) {
  return Session(request, services).run();
}

}  // namespace profline::workload
