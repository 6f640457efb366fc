#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/stage.h"
#include "stages/server/internal/session.h"
#include "tools/kineto/environment.h"
#include "tools/nsys/probe.h"

/// The gates of the stages.
namespace profline::stages::internal {

// Names of commands in a plan.
inline constexpr const char* kStart = "start";
inline constexpr const char* kStop = "stop";
inline constexpr const char* kExport = "export";

/// nsys by its commands: launch, start and stop.
std::unique_ptr<WindowGate> nsys_gate(const pipeline::StageContext& context,
                                      const pipeline::StagePlan& plan, pipeline::StageRun& run);

/// nsys, which waits for the engine to call cudaProfilerStart; the engine's endpoints make it call.
std::unique_ptr<WindowGate> cuda_gate(const pipeline::StageContext& context,
                                      pipeline::StageRun& run);

/// nsys around the server for as long as it lives: there is no window.
std::unique_ptr<WindowGate> whole_life_gate(const pipeline::StageContext& context,
                                            pipeline::StageRun& run);

/// The engine's own profiler, by its endpoints.
std::unique_ptr<WindowGate> http_gate(const pipeline::StageContext& context,
                                      pipeline::StageRun& run);

/// How libtorch's profiler is asked in a server that runs already. An Error says why it cannot be.
Result<kineto::GivenFolders> kineto_of_attached(const pipeline::RunSetup& setup);

/// libtorch's profiler in processes that were started with kineto::environment(), or, of a server
/// that runs already, with what kineto_of_attached() says.
std::unique_ptr<WindowGate> kineto_gate(const pipeline::StageContext& context,
                                        pipeline::StageRun& run);

/// The session of nsys in a stage of this run.
std::string nsys_session_id(const pipeline::RunSetup& setup);
/// Its report, without its ending.
std::filesystem::path nsys_output(const pipeline::RunSetup& setup);
/// The nsys of this machine; without one, a stand-in that shows what commands would look like.
nsys::Installation installed_nsys(const pipeline::Toolbox& tools);

/// A folder's file system has no space left, in words; empty: it has.
std::string full_disk_of(const std::filesystem::path& folder);

}  // namespace profline::stages::internal
