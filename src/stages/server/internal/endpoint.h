#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "formats/node.h"
#include "pipeline/stage.h"
#include "settings/pipeline.h"

/// The engine's own profiler, as its endpoints start and stop it.
namespace profline::stages::internal {

/// A gate that does not open or close; `reason` is the code of its finding.
Error refused(const char* reason, std::string text);

/// A request to the engine's endpoints.
class Endpoint {
 public:
  Endpoint(const pipeline::StageContext& context, pipeline::StageRun& run)
      : http_(context.setup.settings.pipeline.workload.server.http),
        url_(context.setup.settings.pipeline.workload.server.url.value_or("")),
        run_(run) {}

  Result<void> start(const std::filesystem::path& folder) const {
    return send(http_.start, http_.start_body, folder, "start");
  }
  Result<void> stop(const std::filesystem::path& folder) const {
    return send(http_.stop, http_.stop_body, folder, "stop");
  }

 private:
  Result<void> send(const std::string& request, const Node& body,
                    const std::filesystem::path& folder, const std::string& verb) const;

  const settings::ServerHttp& http_;
  std::string url_;
  pipeline::StageRun& run_;
};

}  // namespace profline::stages::internal
