// Fetching a whole answer, for what is asked about a server besides the load.

#include <utility>

#include <fmt/core.h>
#include <strings.h>

#include "load/client/http_loop.h"

namespace profline::load {
namespace {

class WholeAnswer final : public AnswerReader {
 public:
  void header(std::string_view line) override;
  bool body(std::string_view bytes, const ReadTime& /*when*/) override {
    if (answer.body.size() + bytes.size() > kMostBytes) return false;
    answer.body += bytes;
    return true;
  }
  void ended(const TransferEnd& end) override {
    answer.status = end.status;
    answer.failure = end.failure;
    if (end.stopped_by_reader) answer.failure = Failure{"too_large", "more than 4 MiB"};
    has_ended = true;
  }

  Answer answer;
  bool has_ended = false;

 private:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
};

void WholeAnswer::header(std::string_view line) {
  constexpr std::string_view kServer = "server:";
  if (line.size() <= kServer.size()) return;
  if (::strncasecmp(line.data(), kServer.data(), kServer.size()) != 0) return;
  line.remove_prefix(kServer.size());
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  answer.server = line;
}

}  // namespace

std::string Answer::describe() const {
  return failure ? failure->text : fmt::format("answered {}", status);
}

Answer fetch(HttpLoop& loop, const HttpRequest& request, const std::function<bool()>& stopping) {
  WholeAnswer reader;
  loop.start(request, reader);
  while (!reader.has_ended) {
    if (stopping()) loop.cancel(reader);
    if (!reader.has_ended) loop.step(monotonic_ns() + kSecondNs);
  }
  return std::move(reader.answer);
}

}  // namespace profline::load
