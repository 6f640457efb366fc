// Creates the run folders that the tests of report.html open.
//
//   report_runs h200 FOLDER           decode on an H200: the captures are real, times without a
//                                     profiler and NVML are made up
//   report_runs h200-counters FOLDER  the same without static analysis: ceilings from the counters
//   report_runs program FOLDER        a user's own program: captures, and its wall time
//   report_runs load FOLDER           an open-loop load on a server with SLOs, some errors and a
//   late client report_runs load-search FOLDER    a search for the highest rate that meets the SLOs
//   report_runs sweep FOLDER          a sweep of two keys and a third, some of whose jobs failed
//   report_runs hostile FOLDER        names that would be harmful if they were not treated as text
//   report_runs large FOLDER          a million kernels, two million operators
//   report_runs report FOLDER         writes every report of the existing run
//   report_runs page FOLDER           writes report.html again from the existing summary.json

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "analysis/kernels/classify.h"
#include "analysis/operators/operator_table.h"
#include "base/files.h"
#include "formats/yaml.h"
#include "report/write_reports.h"
#include "run/names/artifact_names.h"
#include "settings/hardware.h"
#include "stages/ncu/internal/captures.h"
#include "stages/nsys/internal/captures.h"
#include "statistics/summary.h"
#include "summary/summarise.h"
#include "sweep/report.h"
#include "testing/captures/generated_trace.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/planted_ranks.h"
#include "testing/paths.h"
#include "testing/runs/load_run.h"
#include "testing/runs/recorded_run.h"
#include "tools/ncu/csv_reader.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"
#include "web/write_page.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    std::cerr << result.error().to_string() << '\n';
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

fs::path golden(const std::string& name) {
  return testing::source_dir() / "tests/golden" / name;
}

settings::Ceilings h200_ceilings() {
  const auto path = testing::source_dir() / "conf/hardware/devices.yaml";
  const Node table = must(parse_yaml(must(read_file(path)), "devices.yaml"));
  return settings::ceilings_of(*must(settings::read_hardware(table)).find("NVIDIA H200"));
}

/// Times around those of the single request in h200_run().
run::Requests varied(const Request& like, std::size_t images) {
  statistics::RandomNumbers random(8);
  const auto jitter = [&](std::int64_t ns) {
    return ns + ns * static_cast<std::int64_t>(random.below(200)) / 1000;
  };
  run::Requests requests;
  for (std::size_t i = 0; i < images; ++i) {
    Request request = like;
    request.id = i;
    request.attributes["image"] = Node::string("page-" + std::to_string(10001 + i).substr(1));
    request.attributes["index"] = Node::integer(static_cast<std::int64_t>(i));
    Phase& prefill = testing::phase_of(request, "prefill");
    prefill.ns = jitter(prefill.ns);
    Phase& decode = testing::phase_of(request, "decode");
    decode.ns = 0;
    for (std::int64_t& ns : *decode.steps_ns) {
      ns = jitter(ns) + (random.below(40) == 0 ? ns / 2 : 0);
      decode.ns += ns;
    }
    requests.push_back(request);
  }
  return requests;
}

std::string gpu_readings() {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const double wave = std::sin(i / 20.0);
    text += "{\"at_ns\":" + std::to_string(i * 100'000'000LL) +
            ",\"sm_clock_mhz\":" + std::to_string(1755 + static_cast<int>(wave * 90)) +
            ",\"memory_clock_mhz\":3201,\"power_mw\":" +
            std::to_string(310'000 + static_cast<int>(wave * 60'000)) +
            ",\"temperature_c\":" + std::to_string(41 + i / 60) +
            ",\"gpu_utilisation_pct\":" + std::to_string(15 + i % 4) +
            ",\"memory_used_bytes\":7516192768,\"throttle_reasons\":" + (i % 50 == 0 ? "4" : "0") +
            "}\n";
  }
  return text;
}

void add_captures(testing::TestRun& run, const fs::path& sqlite) {
  const kernels::Classifier classifier = must(kernels::shipped_classifier());
  stages::internal::ReadCapture capture;
  capture.about.name = "run";
  capture.about.range = "decode";
  capture.about.report = "run.nsys-rep";
  capture.about.sqlite = "run.sqlite";
  const Timeline timeline = must(nsys::read_sqlite(sqlite));
  capture.timeline = &timeline;
  capture.requests = *run.nsys_requests;
  stages::internal::NsysTables tables;
  stages::internal::add_capture(capture, classifier, tables);
  stages::internal::finish(tables);
  run.nsys_ranges = tables.ranges;
  run.nsys_kernels = tables.kernels;
  const CounterReport counters =
      must(ncu::load_csv(golden("ncu/2025.3-raw-kernels/input.csv").string(), {}));
  run.ncu_kernels = stages::internal::kernel_rows(counters, h200_ceilings(), classifier);
  run.ncu_kernels->tool = "ncu 2025.3.1";
  run.ncu_kernels->ceilings_source = h200_ceilings().source;
}

void describe(RunRecord& run) {
  run.state = RunState::Ok;
  run.version = "0.1.0";
  run.host = "gpu-node";
  run.command_line.argv = {"profline", "run", "pipeline.nsys.enable=true",
                           "pipeline.ncu.enable=true"};
  run.command_line.cwd = "/home/user/ocr";
  for (StageRecord& stage : run.stages) {
    if (stage.state != StageState::Ok) continue;
    stage.why = "pipeline." + stage.name + ".enable is true";
    stage.timing = {8'200'000'000, 8'000'000'000, 120'000'000, 9'000'000};
    CommandRecord command;
    command.name = "workload";
    command.argv = {"profline-workload", "--mode", stage.name, "--config", "config.resolved.json"};
    command.cwd = "/home/user/ocr";
    command.wall_ns = 8'000'000'000;
    command.max_rss_bytes = 3'200'000'000;
    command.code = 0;
    command.end = "exited with code 0";
    command.log = stage.name + "/log";
    stage.commands = {command};
    stage.artifacts = {{stage.name + "/log", 1024, std::string(64, 'a')}};
  }
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

testing::TestRun h200_run(const fs::path& sqlite) {
  testing::TestRun run = testing::h200_run();
  run.baseline = varied(run.baseline->front(), 12);
  add_captures(run, sqlite);
  describe(run.run);
  StageRecord& nsys = run.stage("nsys");
  nsys.limits = {"1 of 12 images (pipeline.nsys.samples)"};
  nsys.findings.push_back({Severity::Warning, "cpu_sampling_off",
                           "nsys sampled no call stacks: sampling is off here",
                           "sysctl kernel.perf_event_paranoid=2"});
  run.run.timing.total_ns = 41'000'000'000;
  return run;
}

/// In addition to what the stages write.
void write_run_files(const fs::path& folder, const fs::path& sqlite) {
  fs::create_directories(folder / "nsys");
  fs::copy_file(sqlite, folder / "nsys/run.sqlite", fs::copy_options::overwrite_existing);
  write_text(folder / "baseline/gpu.jsonl", gpu_readings());
  for (const char* name : {"config.resolved.json", "env.json"}) {
    fs::copy_file(golden("report/cpu-tiny/run") / name, folder / name,
                  fs::copy_options::overwrite_existing);
  }
  write_text(
      folder / "config.origins.json",
      R"({"schema": "profline.config_origins/1", "origins": {"device": {"source": "device=cuda:0", "line": 1,)"
      R"( "column": 8, "config": "", "is_override": true}, "experiment": {"source": "conf/config.yaml",)"
      R"( "line": 3, "column": 13, "config": "config", "is_override": false}}})");
}

/// As the workload would have counted them in the stored trace.
TorchOperators traced_operators() {
  const Timeline trace =
      must(torch_profiler::read_trace(golden("trace/kineto-torch-2.11-h200.json.gz")));
  TorchOperators result;
  for (const operators::OperatorRow& row : operators::operator_table(trace).rows) {
    result.operators.push_back({trace.names.text(row.name), "", row.calls, row.self_ns,
                                row.total_ns, row.self_device_ns, row.device_ns});
  }
  return result;
}

void write_every_report(const fs::path& folder) {
  const run::Run run = must(run::Run::open(folder));
  const RunSummary summary = summary::summarise(run);
  must(report::write_reports(run, summary));
  must(web::write_page(run, summary));
}

void finish_run(const testing::TestRun& run, const TorchOperators& operators,
                const fs::path& folder, const fs::path& sqlite) {
  run.write(folder);
  write_text(folder / "torch_profiler/operators.json", must(to_document(operators)));
  write_run_files(folder, sqlite);
  write_every_report(folder);
}

void make_h200(const fs::path& folder) {
  const fs::path sqlite = golden("nsys/2025.3-decode/input.sqlite");
  finish_run(h200_run(sqlite), traced_operators(), folder, sqlite);
}

void make_counters_only(const fs::path& folder) {
  const fs::path sqlite = golden("nsys/2025.3-decode/input.sqlite");
  testing::TestRun run = h200_run(sqlite);
  run.static_compute.reset();
  run.stage("static_analysis").state = StageState::Off;
  finish_run(run, traced_operators(), folder, sqlite);
}

void make_program(const fs::path& folder) {
  const fs::path sqlite = golden("nsys/2025.3-decode/input.sqlite");
  testing::TestRun run = h200_run(sqlite);
  run.baseline.reset();
  run.nsys_requests.reset();
  run.torch_requests.reset();
  run.trace.clear();
  run.static_compute.reset();
  run.nsys_ranges->captures.front().range.clear();
  for (RangeUse& range : run.nsys_ranges->ranges) range.tokens.reset();
  for (const char* stage : {"static_analysis", "torch_profiler"}) {
    run.stage(stage).state = StageState::Off;
  }
  run.write(folder);
  write_run_files(folder, sqlite);
  fs::remove(folder / "config.resolved.json");  // from another workload
  write_text(folder / "baseline/process.json",
             R"({"schema": "profline.process/1", "runs": 1, "end": "exited with code 0",)"
             R"( "wall_ns": 900000000, "cpu_user_ns": 600000000, "cpu_system_ns": 90000000,)"
             R"( "max_rss_bytes": 734003200, "processes": [{}]})");
  write_every_report(folder);
}

/// Three ranks, of which one is late.
void make_ranks(const fs::path& folder) {
  make_program(folder);
  const testing::PlantedTraces planted = testing::planted_traces(
      {.ranks = 3, .steps = 20, .seed = 2, .straggler = 1, .states_rank = false});
  for (std::size_t rank = 0; rank < planted.traces.size(); ++rank) {
    const fs::path below = folder / "torch_profiler/ranks" / std::to_string(rank);
    fs::create_directories(below);
    write_text(below / "trace.json", planted.traces[rank]);
  }
  write_text(folder / "ranks.json", R"({"schema": "profline.ranks/1", "launcher": "srun", "n": 3,
    "ranks": [{"rank": 0, "node": "n1", "why": ""}, {"rank": 1, "node": "n2", "why": ""},
              {"rank": 2, "node": "n2", "why": ""}]})");
  write_every_report(folder);
}

/// The client is late enough for a mark.
void make_load(const fs::path& folder) {
  testing::LoadRun run({.requests = 600,
                        .rate = 25,
                        .failures = 12,
                        .lateness_ms = 2.5,
                        .slo = {.ttft_ms = 60.0, .tpot_ms = 10.0}});
  run.load.findings.push_back({Severity::Note, "no_tokenize",
                               "the server does not tokenize, so the length of prompts is "
                               "approximate",
                               ""});
  run.write(folder);
  write_every_report(folder);
}

void make_load_search(const fs::path& folder) {
  testing::LoadRun run({.rate = 12, .slo = {.ttft_ms = 150.0, .tpot_ms = 20.0}});
  run.load.search = testing::made_up_search();
  run.write(folder);
  write_every_report(folder);
}

void make_hostile(const fs::path& folder) {
  const std::string script = "<script>window.hacked=1</script>";
  const std::string image = "\"><img src=x onerror=window.hacked=2>";
  const std::string quotes = "'\"`${window.hacked=3}</code></td><b>bold";
  const std::string ends = "</script><script>window.hacked=4</script><!--";
  const std::string reversed = "evil\xE2\x80\xAEtxt.exe\xE2\x80\x8F\x01\xFF";
  const std::string endless(10'240, 'x');
  const std::string all[] = {script, image, quotes, ends, reversed, endless};
  const fs::path sqlite = golden("nsys/2025.3-decode/input.sqlite");
  testing::TestRun run = h200_run(sqlite);
  run.run.experiment = script + image;
  run.run.host = quotes;
  run.run.command_line.argv.push_back(ends);
  std::size_t i = 0;
  for (KernelUse& kernel : run.nsys_kernels->kernels) {
    kernel.name = kernel.short_name = kernel.printed_name =
        all[i % std::size(all)] + std::to_string(i);
    kernel.kernel_class = all[i % 4];
    ++i;
    kernel.ranges = {"decode", image};
  }
  for (NcuKernel& kernel : run.ncu_kernels->kernels) {
    kernel.name = kernel.short_name = kernel.printed_name =
        all[i % std::size(all)] + std::to_string(i);
    kernel.evidence.push_back(script);
    ++i;
    if (!kernel.counters.empty()) kernel.counters.front().name = image;
  }
  for (Request& request : *run.baseline) {
    request.attributes["image"] = Node::string(all[i++ % std::size(all)]);
  }
  StageRecord& nsys = run.stage("nsys");
  nsys.artifacts.push_back({"nsys/" + image, 1, "x"});
  nsys.artifacts.push_back({"javascript:window.hacked=5", 1, "x"});
  nsys.findings.push_back({Severity::Problem, "x", script, image});
  for (StageRecord& stage : run.run.stages) stage.notes.push_back(script);
  TorchOperators operators = traced_operators();
  for (TorchOperator& row : operators.operators) row.name = all[i++ % std::size(all)] + row.name;
  finish_run(run, operators, folder, sqlite);
}

std::string operators_json(std::size_t rows) {
  std::string text =
      R"({"schema": "profline.operators/1", "duration_ns": 9000000000, "operators": [)";
  for (std::size_t i = 0; i < rows; ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"({"name": "aten::op_)") + std::to_string(i % 300) +
            R"(", "shapes": "[[1, )" + std::to_string(i) +
            R"(], [64, 64]]", "calls": 10, "self_cpu_ns": )" +
            std::to_string(100'000'000 / (i + 1)) +
            R"(, "total_cpu_ns": 100000, "self_device_ns": 10,)" + R"( "total_device_ns": 10})";
  }
  return text + "]}";
}

/// An nsys capture with a million kernels, a trace with two million operators and a table of as
/// many shapes as such a run has; prints how long the reports took.
void make_large(const fs::path& folder) {
  fs::create_directories(folder / "made");
  const fs::path sqlite = folder / "made/large.sqlite";
  testing::DecodeLoop loop;
  loop.kernels = 1'000'000;
  must(testing::write_decode_loop(sqlite, loop));
  fs::create_directories(folder / "torch_profiler");
  testing::GeneratedTrace trace;
  {
    std::ofstream file(folder / "torch_profiler/trace.json", std::ios::binary);
    trace = must(testing::generate_trace(6'000'000, [&](std::string_view text) -> Result<void> {
      file << text;
      return {};
    }));
  }
  write_text(folder / "torch_profiler/operators.json", operators_json(20'000));
  testing::TestRun run = h200_run(sqlite);
  run.trace.clear();
  run.write(folder);
  write_run_files(folder, sqlite);
  const auto seconds_since = [](std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto start = std::chrono::steady_clock::now();
  const run::Run read = must(run::Run::open(folder));
  const RunSummary summary = summary::summarise(read);
  must(report::write_reports(read, summary));
  const double reports = seconds_since(start);
  const auto page = std::chrono::steady_clock::now();
  must(web::write_page(read, summary));
  std::cout << trace.kernels << " kernels and " << trace.operators << " operators in the trace, "
            << loop.kernels << " kernels in nsys' capture: summary and Markdown " << reports
            << " s, report.html " << seconds_since(page) << " s, "
            << fs::file_size(folder / "report.html") << " bytes\n";
}

/// Times that differ by a factor of a hundred, as between fp32 on one thread and bf16 on many.
sweep::Job swept_job(std::int64_t number, int batch, const std::string& dtype, int threads) {
  sweep::Job job;
  job.number = number;
  job.folder = std::to_string(number);
  job.overrides = {"infer.batch_size=" + std::to_string(batch), "model.dtype=" + dtype,
                   "pipeline.workload.threads=" + std::to_string(threads)};
  job.status = {.state = sweep::JobState::Ok,
                .exit_code = 0,
                .attempts = 1,
                .started = "2026-11-18T10:00:00.000Z",
                .ended = "2026-11-18T10:01:00.000Z",
                .node = "n1"};
  job.verdict = "decode is memory-bound";
  const double slow = (dtype == "bf16" ? 8.0 : 1.0) * (threads > 1 ? 12.0 : 1.0);
  const double prefill = 5.0 * slow + batch;
  const double token = 0.25 * slow + 0.01 * batch;
  const double rate = 1000 * batch / token;
  job.metrics = {{"prefill_ms", "ms", prefill, prefill * 0.9, prefill * 1.1, 8, false},
                 {"token_ms", "ms", token, token * 0.97, token * 1.2, 8, false},
                 {"tokens_per_s", "tokens/s", rate, rate * 0.95, rate * 1.05, 8, true}};
  return job;
}

void make_sweep(const fs::path& folder) {
  sweep::Sweep made;
  made.started = "2026-11-18T10:00:00.000Z";
  made.version = "1.0.0";
  made.launcher = sweep::LauncherKind::Slurm;
  made.command_line.config_name = "demo";
  for (const int batch : {1, 2, 4, 8, 16}) {
    for (const char* dtype : {"fp32", "bf16"}) {
      for (const int threads : {1, 2}) {
        made.jobs.push_back(
            swept_job(static_cast<std::int64_t>(made.jobs.size()), batch, dtype, threads));
      }
    }
  }
  const auto fails = [&](std::size_t job, sweep::JobState state, const std::string& why) {
    made.jobs[job].status.state = state;
    made.jobs[job].status.why = why;
    made.jobs[job].metrics.clear();
    if (state != sweep::JobState::Failed) made.jobs[job].verdict.clear();
  };
  fails(17, sweep::JobState::Failed, "stage baseline failed: <img src=x onerror=alert(1)>");
  fails(18, sweep::JobState::Killed, "ended without a record: Slurm says OUT_OF_MEMORY");
  fails(19, sweep::JobState::Pending, "queued again after its time limit");
  made.submissions.push_back({.launcher = sweep::LauncherKind::Slurm, .slurm_job = "4711"});
  for (const sweep::Job& job : made.jobs) made.submissions.back().jobs.push_back(job.number);
  sweep::summarise(made);
  fs::create_directories(folder);
  write_text(folder / run::files::kSweep, must(to_document(made)));
  write_text(folder / run::files::kSweepReport, sweep::markdown_of(made));
  write_text(folder / run::files::kSweepPage, must(web::sweep_page(made, "<b>night</b>")));
}

int make_run(const std::string& what, const fs::path& folder) {
  if (what == "h200") {
    make_h200(folder);
  } else if (what == "h200-counters") {
    make_counters_only(folder);
  } else if (what == "program") {
    make_program(folder);
  } else if (what == "load") {
    make_load(folder);
  } else if (what == "load-search") {
    make_load_search(folder);
  } else if (what == "ranks") {
    make_ranks(folder);
  } else if (what == "sweep") {
    make_sweep(folder);
  } else if (what == "hostile") {
    make_hostile(folder);
  } else if (what == "large") {
    make_large(folder);
  } else if (what == "report") {
    write_every_report(folder);
  } else if (what == "page") {
    const std::string text = must(read_file(folder / "summary.json"));
    must(web::write_page(must(run::Run::open(folder)),
                         must(from_document<RunSummary>(text, "summary.json"))));
  } else {
    std::cerr << "unknown kind of run: " << what << '\n';
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace profline

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr
        << "report_runs "
           "h200|h200-counters|program|load|load-search|ranks|sweep|hostile|large|report|page "
           "FOLDER\n";
    return 2;
  }
  return profline::make_run(arguments[1], arguments[2]);
}
