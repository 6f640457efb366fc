#include "stages/server/internal/endpoint.h"

#include "formats/json.h"
#include "pipeline/workload_stage.h"
#include "workloads/server/command.h"
#include "workloads/server/http_request.h"

namespace profline::stages::internal {
namespace fs = std::filesystem;

Error refused(const char* reason, std::string text) {
  return Error(ErrorKind::Tool, std::move(text)).with_reason(reason);
}

Result<void> Endpoint::send(const std::string& request, const Node& body, const fs::path& folder,
                            const std::string& verb) const {
  const std::size_t blank = request.find(' ');
  server::HttpCall call{.method = request.substr(0, blank), .path = request.substr(blank + 1)};
  if (!body.is_null()) {
    call.body = server::with_traces(PL_TRY(write_json(body, {.indent = 0})), folder);
  }
  call.timeout = http_.timeout;
  const auto address = PL_TRY(server::parse_address(url_));
  const bool is_stop = verb == "stop";
  const auto answer = server::call(address, call, [&] {
    // Stopping keeps what was captured, so that one interrupt does not end it.
    return is_stop ? run_.interrupt().in_a_hurry() : run_.interrupt().requested();
  });
  if (!answer) {
    if (answer.error().kind() == ErrorKind::Cancelled) return answer.error();
    const bool hangs = answer.error().reason() == server::kNoAnswer;
    return refused(
        !hangs    ? "gate_refused"
        : is_stop ? "gate_stop_hangs"
                  : "gate_start_hangs",
        "the engine's profiler did not " + verb + ": " + request + ": " + answer.error().message());
  }
  constexpr int kOk = 200;
  constexpr int kAfterOk = 300;
  if (answer->status >= kOk && answer->status < kAfterOk) return {};
  constexpr int kNotFound = 404;
  constexpr int kConflict = 409;
  std::string text = request + " answers " + std::to_string(answer->status);
  const std::string said = pipeline::last_words(answer->body);
  if (!said.empty()) text += " (" + said + ")";
  if (answer->status == kNotFound) {
    return refused("gate_missing",
                   "the engine has no such endpoint, or was started without its "
                   "profiler: " +
                       text);
  }
  if (answer->status == kConflict) {
    return refused("gate_in_use", "the engine's profiler is in use already: " + text);
  }
  return refused("gate_refused", "the engine's profiler did not " + verb + ": " + text);
}

}  // namespace profline::stages::internal
