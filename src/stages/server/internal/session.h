#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/server.h"
#include "settings/pipeline.h"
#include "workloads/server/process_tree.h"

/// One life of a server in a stage: it is started, loaded, and stopped, with a gate that opens a
/// profiler's window in between.
namespace profline::stages::internal {

// Names of the commands in a stage's plan.
inline constexpr const char* kServer = "server";
inline constexpr const char* kLoad = "load";

// What must be true of a capture, where that is named twice.
inline constexpr const char* kSurvived = "the server survived the window";
inline constexpr const char* kWhole = "the capture is whole";

/// How long the import of a busy GPU's capture may take.
inline constexpr std::chrono::minutes kLongImport{10};

/// What opens and closes a profiler's window. The reason of an Error is the code of its finding.
class WindowGate {
 public:
  virtual ~WindowGate() = default;
  virtual std::string_view name() const = 0;
  /// Watches the server, on another thread; may be null.
  virtual RunObserver* observer() { return nullptr; }
  /// Whether it opens a window of the load; otherwise all of the server's life is recorded.
  virtual bool has_window() const { return true; }
  /// Whether the profiler starts the server, with programs of its own around it.
  virtual bool starts_server() const { return false; }
  /// Before the server is started.
  virtual Result<void> prepare() { return {}; }
  /// Why the server should be started again, if it ended before it was ready because the profiler
  /// failed. Prepares that, with another observer(). Empty: it should not.
  virtual std::string next_attempt(const Exit& /*exit*/) { return {}; }
  /// The command that starts the server, in the current attempt.
  virtual pipeline::PlannedCommand server_command(pipeline::PlannedCommand planned) const {
    return planned;
  }
  /// Returns once the window is open, or is known not to open.
  virtual Result<void> open() = 0;
  /// Returns once the capture is complete.
  virtual Result<void> close() = 0;
  /// Whether there is a capture, once the server and all around it have ended; false: not known.
  virtual bool has_capture() const { return false; }
  /// Whether the server closes it: one that has ended cannot, and there is nothing else to say.
  virtual bool is_closed_by_server() const { return false; }
  /// How long what started the server may take to end after it, with a capture to import or not.
  virtual std::chrono::seconds time_to_end() const { return kLongImport; }
  /// A disk that the profiler writes to has no space left, in words; empty: it has.
  virtual std::string full_disk() const { return {}; }
  /// Whether the profiler turned out to be unable to sample the GPU's metrics, which was reported.
  virtual bool lacks_metrics() const { return false; }
  /// Whether the profiler is in a process; nothing: not known.
  virtual std::optional<bool> traces(const server::TreeProcess& /*process*/) { return {}; }
};

const settings::Workload& workload_of(const pipeline::RunSetup& setup);

/// Whether the server is running already, and stays.
bool is_attached(const pipeline::RunSetup& setup);

/// What would keep the server from being started and loaded.
std::vector<pipeline::Finding> server_preflight(const pipeline::StageContext& context);

/// The load generator's folder in a stage's.
std::filesystem::path load_folder(const pipeline::RunSetup& setup, std::string_view stage);
/// The server's output.
std::filesystem::path server_log(const pipeline::RunSetup& setup, std::string_view stage);

/// Adds the server and its load to a plan; `server` is the command that starts it, under a profiler
/// or not. A load `until_asked` goes on until the window has closed.
void add_session(const pipeline::StageContext& context, std::string_view stage, Command server,
                 bool until_asked, pipeline::StagePlan& plan);

/// Runs it. `gate` may be null: there is no window. What goes wrong is reported; the record has
/// what is known.
Result<ServerRecord> run_session(const pipeline::StageContext& context,
                                 const pipeline::StagePlan& plan, pipeline::StageRun& run,
                                 std::string_view stage, WindowGate* gate);

/// Nanoseconds of the machine's monotonic clock, and what to add to get those since 1970.
std::int64_t monotonic_ns();
std::int64_t unix_minus_monotonic_ns();

/// Checks what can be checked without the capture, and compares with the baseline: fills in proofs
/// and cost.
void judge(const pipeline::RunSetup& setup, ServerRecord& record, pipeline::StageRun& run);

/// Compares what the engine says about the time to the first token with what the client saw.
void explain_first_token(const pipeline::RunSetup& setup, ServerRecord& record);

/// Whether the server still ran when its window had been closed; without a window: true.
bool survived_window(const ServerRecord& record);

/// A proof that failed is a Problem, with this code and fix.
void add_proof(ServerRecord& record, pipeline::StageRun& run, ServerProof proof,
               const std::string& code = {}, const std::string& fix = {});

Result<void> write_record(const pipeline::RunSetup& setup, const ServerRecord& record);

/// What is known of a capture besides its content.
struct CaptureCounts {
  bool has_gpu = false;  ///< the run uses a GPU
  /// Work of each process, where every process has a capture of its own; empty: the capture has all
  /// of them.
  std::map<std::int64_t, std::uint64_t> by_process{};
  /// The capture may be one of several, so that a process without a row in it may be in another.
  bool is_one_of_many = false;
};

/// The steps and the processes of a capture that has been read.
void use_capture(const Timeline& timeline, const std::string& source, const CaptureCounts& counts,
                 ServerRecord& record, pipeline::StageRun& run);

}  // namespace profline::stages::internal
