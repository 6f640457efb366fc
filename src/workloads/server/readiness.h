#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "settings/load.h"
#include "workloads/server/http_request.h"

namespace profline::server {

/// Finds out whether a server takes requests, as `pipeline.workload.server.ready` says.
class Readiness {
 public:
  /// `log`: the server's output.
  static Result<Readiness> of(const settings::Server& server, std::filesystem::path log);

  /// Nothing if it is ready, else why it is not: `connection refused`. Takes a second at most.
  std::optional<std::string> why_not(const std::function<bool()>& stopping) const;

  /// What shows that it is ready, in words: `GET /health answers 200`.
  std::string describe() const;
  /// Where requests go; nothing if that is not known without TLS.
  const std::optional<Address>& address() const { return address_; }

 private:
  Readiness(settings::ServerReady ready, std::filesystem::path log, std::optional<Address> address)
      : ready_(std::move(ready)), log_(std::move(log)), address_(std::move(address)) {}

  settings::ServerReady ready_;
  std::filesystem::path log_;
  std::optional<Address> address_;
};

}  // namespace profline::server
