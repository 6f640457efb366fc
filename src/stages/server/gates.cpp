#include "stages/server/internal/gates.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "process/process_table.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/endpoint.h"
#include "tools/kineto/environment.h"
#include "tools/kineto/responder.h"
#include "tools/kineto/traced_processes.h"
#include "workloads/server/http_request.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;
using std::chrono::milliseconds;

/// The name of traces in the stage's folder, into which each process inserts its pid.
constexpr const char* kKept = "kineto.json";

class HttpGate final : public WindowGate {
 public:
  HttpGate(const StageContext& context, pipeline::StageRun& run)
      : folder_(context.setup.stage_folder(run::stages::kTorchProfiler)), endpoint_(context, run) {}

  std::string_view name() const override { return "http"; }
  Result<void> open() override { return endpoint_.start(folder_); }
  Result<void> close() override { return endpoint_.stop(folder_); }
  bool is_closed_by_server() const override { return true; }

 private:
  fs::path folder_;
  Endpoint endpoint_;
};

class KinetoGate final : public WindowGate {
 public:
  KinetoGate(const StageContext& context, pipeline::StageRun& run)
      : setup_(context.setup), run_(run) {}

  std::string_view name() const override { return "kineto"; }
  Result<void> prepare() override;
  Result<void> open() override;
  Result<void> close() override;
  std::optional<bool> traces(const server::TreeProcess& process) override;
  std::string full_disk() const override {
    return full_disk_of(setup_.stage_folder(run::stages::kTorchProfiler));
  }

 private:
  /// Processes that were asked for a trace.
  std::size_t asked() const;
  /// Those of them whose trace is not complete.
  std::vector<kineto::Client> unwritten() const;
  Result<void> take_traces(const std::vector<kineto::Client>& without) const;
  bool wait_until(const std::function<bool()>& done, milliseconds at_most) const;

  const RunSetup& setup_;
  pipeline::StageRun& run_;
  std::atomic<bool> is_open_{false};
  std::unique_ptr<kineto::Responder> responder_;
};

Result<void> KinetoGate::prepare() {
  const settings::TorchProfiler& own = setup_.settings.pipeline.torch_profiler;
  const auto asks_for = [&](settings::Activity activity) {
    return std::find(own.activities.begin(), own.activities.end(), activity) !=
           own.activities.end();
  };
  const fs::path folder = setup_.stage_folder(run::stages::kTorchProfiler);
  kineto::GivenFolders given{kineto::socket_folder(setup_.folder), folder};
  fs::path name = kKept;
  if (is_attached(setup_)) {
    // Its processes write where their environment says; other runs may use the same folder.
    name = given.sockets.filename().string() + ".json";
    given = PL_TRY(kineto_of_attached(setup_));
  } else {
    PL_TRY(write_file_atomic(folder / run::files::kKinetoConfig, kineto::config_text()));
  }
  constexpr double kMs = 1000;
  const kineto::TraceRequest request{.file = given.traces / name,
                                     .duration = milliseconds(static_cast<std::int64_t>(
                                         setup_.settings.pipeline.workload.window.seconds * kMs)),
                                     .cpu = asks_for(settings::Activity::Cpu),
                                     .cuda = asks_for(settings::Activity::Cuda),
                                     .shapes = own.record_shapes,
                                     .memory = own.profile_memory,
                                     .stacks = own.with_stack};
  auto sockets = PL_TRY(is_attached(setup_) ? kineto::SocketFolder::share(given.sockets)
                                            : kineto::SocketFolder::create(given.sockets));
  responder_ = PL_TRY(kineto::Responder::open(
      std::move(sockets), request,
      [this](const kineto::Client& /*client*/) { return is_open_.load(); }));
  return {};
}

std::size_t KinetoGate::asked() const {
  const kineto::Traffic traffic = responder_->traffic();
  return static_cast<std::size_t>(
      std::count_if(traffic.clients.begin(), traffic.clients.end(),
                    [](const kineto::Client& client) { return client.asked.has_value(); }));
}

std::vector<kineto::Client> KinetoGate::unwritten() const {
  std::vector<kineto::Client> clients = responder_->traffic().clients;
  std::erase_if(clients, [&](const kineto::Client& client) {
    return !client.asked ||
           kineto::is_complete_trace(kineto::trace_file(responder_->trace().file, client.pid));
  });
  return clients;
}

/// Whether a process may still write its trace.
bool is_running(const kineto::Client& client) {
  ProcessStat stat;
  const pid_t pid = client.kernel_pid != 0 ? client.kernel_pid : client.pid;
  return read_process(pid, stat) && !stat.is_zombie();
}

bool KinetoGate::wait_until(const std::function<bool()>& done, milliseconds at_most) const {
  const SystemClock clock;
  constexpr milliseconds kPause{10};
  const auto end = clock.now() + at_most;
  while (!done()) {
    if (clock.now() >= end || run_.interrupt().requested()) return false;
    run_.progress().tick();
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

Result<void> KinetoGate::open() {
  is_open_ = true;
  // Processes poll every second, or every five if they did not read our file.
  constexpr milliseconds kPatience{12'000};
  if (!wait_until([this] { return asked() > 0; }, kPatience)) {
    is_open_ = false;
    if (run_.interrupt().requested()) return Error(ErrorKind::Cancelled, "interrupted");
    const kineto::Traffic traffic = responder_->traffic();
    if (!traffic.elsewhere.empty()) {
      return refused("kineto_elsewhere", "the server sees profline's sockets under another path (" +
                                             traffic.elsewhere.front() + ")");
    }
    return refused("kineto_absent",
                   "no process of the server asked for a trace within 12 s: it uses no libtorch, "
                   "or one without Kineto on demand");
  }
  // The others poll within the same second, or within five if they did not read our file.
  constexpr milliseconds kSoon{1'100};
  constexpr milliseconds kLater{5'100};
  const std::size_t known = responder_->traffic().clients.size();
  wait_until([&] { return asked() >= known; }, is_attached(setup_) ? kLater : kSoon);
  return {};
}

Result<void> KinetoGate::close() {
  // Each process writes its file once its time is over: a busy GPU fills 100 MB per second.
  constexpr milliseconds kPatience{180'000};
  is_open_ = false;
  const auto is_settled = [this] {
    const std::vector<kineto::Client> writing = unwritten();
    return std::none_of(writing.begin(), writing.end(), is_running);
  };
  const bool is_over = wait_until(is_settled, kPatience);
  const std::vector<kineto::Client> unwritten_ones = unwritten();
  PL_TRY(take_traces(unwritten_ones));
  if (unwritten_ones.empty()) return {};
  if (!is_over && run_.interrupt().requested()) return Error(ErrorKind::Cancelled, "interrupted");
  const std::string disk = full_disk();
  if (!disk.empty()) return refused("disk_full", "a trace could not be written: " + disk);
  std::vector<std::string> pids;
  for (const kineto::Client& client : unwritten_ones) pids.push_back(std::to_string(client.pid));
  const std::string who = (pids.size() == 1 ? "process " : "processes ") + join(pids, ", ");
  return refused("trace_not_written", is_over ? who + " ended before the trace was written"
                                              : who + " did not finish writing the trace within " +
                                                    human_elapsed(kPatience));
}

/// Moves complete traces into the stage's folder, unless they were written there.
Result<void> KinetoGate::take_traces(const std::vector<kineto::Client>& without) const {
  const fs::path kept = setup_.stage_folder(run::stages::kTorchProfiler) / kKept;
  const fs::path& written = responder_->trace().file;
  if (written == kept) return {};
  for (const kineto::Client& client : responder_->traffic().clients) {
    const bool is_absent =
        !client.asked || std::any_of(without.begin(), without.end(),
                                     [&](const auto& other) { return other.pid == client.pid; });
    if (is_absent) continue;
    const fs::path from = kineto::trace_file(written, client.pid);
    const fs::path to = kineto::trace_file(kept, client.pid);
    std::error_code failure;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure);
    if (failure) {
      return Error(ErrorKind::Io, "cannot copy " + from.string() + ": " + failure.message());
    }
    fs::remove(from, failure);
  }
  return {};
}

std::optional<bool> KinetoGate::traces(const server::TreeProcess& process) {
  if (!kineto::loads_torch(process.id.pid)) return std::nullopt;
  const kineto::Traffic traffic = responder_->traffic();
  return std::any_of(
      traffic.clients.begin(), traffic.clients.end(), [&](const kineto::Client& client) {
        const bool is_it = client.kernel_pid == process.id.pid || client.pid == process.id.pid;
        return is_it && client.asked.has_value();
      });
}

}  // namespace

Result<kineto::GivenFolders> kineto_of_attached(const RunSetup& setup) {
  const auto address = PL_TRY(server::parse_address(workload_of(setup).server.url.value_or("")));
  const std::string& host = address.host;
  if (!host.starts_with("127.") && host != "localhost" && host != "::1") {
    return Error(ErrorKind::Config,
                 "it may be on another machine: its address is " + host + ", not 127.0.0.1");
  }
  const std::int64_t pid = server::listener_on(address.port);
  if (pid == 0) {
    return Error(ErrorKind::NotFound, "no process that profline may look at listens on port " +
                                          std::to_string(address.port));
  }
  return kineto::given_to(static_cast<pid_t>(pid));
}

std::string full_disk_of(const fs::path& folder) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20U;
  const auto free = free_bytes(folder);
  if (!free || *free >= kLeast) return {};
  return human_bytes(*free) + " left on the disk of " + folder.string();
}

std::unique_ptr<WindowGate> http_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<HttpGate>(context, run);
}

std::unique_ptr<WindowGate> kineto_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<KinetoGate>(context, run);
}

}  // namespace profline::stages::internal
