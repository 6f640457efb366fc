#include "workloads/server/readiness.h"

#include <utility>

#include <regex.h>

#include "base/files.h"
#include "base/strings.h"

namespace profline::server {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};

/// A POSIX extended expression.
class Pattern {
 public:
  explicit Pattern(const std::string& text)
      : is_valid_(::regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~Pattern() {
    if (is_valid_) ::regfree(&compiled_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool is_in(const std::string& line) const {
    return is_valid_ && ::regexec(&compiled_, line.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_{};
  bool is_valid_;
};

bool log_has(const std::filesystem::path& log, const std::string& expression) {
  const Pattern pattern(expression);
  const std::string text = read_file(log).value_or("");
  for (const std::string_view line : lines(text)) {
    if (pattern.is_in(std::string(line))) return true;
  }
  return false;
}

}  // namespace

Result<Readiness> Readiness::of(const settings::Server& server, std::filesystem::path log) {
  settings::ServerReady ready = server.ready;
  if (!ready.http && !ready.tcp && !ready.log) ready.http = settings::ServerReady::kDefaultPath;
  auto address = parse_address(server.url.value_or(""));
  if (!address && ready.http) return std::move(address).error();
  return Readiness(std::move(ready), std::move(log),
                   address ? std::optional(*address) : std::nullopt);
}

std::string Readiness::describe() const {
  if (ready_.log) return "a line of its output matches '" + *ready_.log + "'";
  if (ready_.tcp) return *ready_.tcp + " accepts connections";
  return "GET " + *ready_.http + " answers " + std::to_string(ready_.status);
}

std::optional<std::string> Readiness::why_not(const std::function<bool()>& stopping) const {
  if (ready_.log) {
    if (log_has(log_, *ready_.log)) return std::nullopt;
    return "no line of its output matches '" + *ready_.log + "'";
  }
  if (ready_.tcp) {
    const auto address = parse_host_port(*ready_.tcp);
    const auto connected = address ? connects(*address, kPatience) : Result<void>(address.error());
    return connected ? std::nullopt
                     : std::optional(*ready_.tcp + ": " + connected.error().message());
  }
  const auto answer = call(*address_, {.path = *ready_.http, .timeout = kPatience}, stopping);
  if (!answer) return "GET " + *ready_.http + ": " + answer.error().message();
  if (static_cast<std::uint32_t>(answer->status) == ready_.status) return std::nullopt;
  return "GET " + *ready_.http + " answers " + std::to_string(answer->status);
}

}  // namespace profline::server
