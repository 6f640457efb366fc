#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "load/client/http_loop.h"
#include "load/metrics.h"
#include "load/stream.h"

namespace profline::load {

/// Reads the stream of one request into its Outcome. Whatever a server sends, the answer is bounded
/// in size, and what is wrong with it has a name.
class StreamReader final : public AnswerReader {
 public:
  struct Rule {
    std::size_t most_bytes = 0;
    bool keep_text = false;
  };
  StreamReader(Outcome outcome, const Rule& rule) : outcome_(std::move(outcome)), rule_(rule) {}

  /// The most that an answer of so many tokens may take: generous, with logprobs and all.
  static std::size_t most_bytes(std::uint32_t output_tokens);

  void header(std::string_view line) override;
  bool body(std::string_view bytes, const ReadTime& when) override;
  void ended(const TransferEnd& end) override;

  bool has_ended() const { return has_ended_; }
  /// `[DONE]` has arrived; nothing after it matters.
  bool is_complete() const { return outcome_.has_done; }
  const Outcome& outcome() const { return outcome_; }
  Outcome take() { return std::move(outcome_); }

 private:
  void take_chunk(Chunk chunk, const ReadTime& when);
  void add_output(const ReadTime& when);
  void fail(std::string kind, std::string text);
  void judge(const TransferEnd& end);
  void judge_status(int status);
  std::string waited_for() const;

  Outcome outcome_;
  Rule rule_;
  EventParser parser_;
  std::size_t bytes_ = 0;
  std::string other_;  // the beginning of an answer that is not a stream
  std::string content_type_;
  std::string content_encoding_;
  std::string location_;
  int status_ = 0;
  bool has_ended_ = false;
};

}  // namespace profline::load
