#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Streams of completions as servers send them: server-sent events that hold JSON.
namespace profline::load {

/// Splits a stream into events, however it was cut into pieces: lines end with LF, CRLF or CR, an
/// event with an empty line; comments and fields other than `data` and `event` are skipped.
class EventParser {
 public:
  /// Longer events are refused: no server needs them, and a hostile one must not fill the memory.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

  struct Event {
    std::string_view type;  ///< empty: not named
    std::string_view data;
  };
  using Take = std::function<void(const Event& event)>;

  /// False once a line or an event is too long; from then on nothing is taken.
  bool feed(std::string_view bytes, const Take& take);
  /// The stream is over. Servers omit the last empty line, so an event without it counts.
  void end(const Take& take);

 private:
  void end_line(const Take& take);
  void dispatch(const Take& take);

  std::string line_;
  std::string data_;
  std::string type_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool is_first_line_ = true;
  bool is_broken_ = false;
};

/// What an event of a stream of completions says.
struct Chunk {
  enum class Kind : std::uint8_t {
    Output,     ///< text, reasoning or a tool call: at least one token
    Empty,      ///< a role, an empty text, a finish reason or usage alone: not a token
    Done,       ///< `[DONE]`
    Error,      ///< the server reports an error in the stream
    Malformed,  ///< not JSON, or not a chunk of a completion
  };
  Kind kind = Kind::Empty;
  std::string text{};    ///< of Output; for Error and Malformed: what is wrong
  std::string finish{};  ///< `stop`, `length`; empty: not finished
  std::optional<std::uint64_t> prompt_tokens{};
  std::optional<std::uint64_t> output_tokens{};

  bool operator==(const Chunk&) const = default;
};

/// Interprets an event of /v1/completions or /v1/chat/completions. Usage counts only if its
/// numbers are whole and plausible.
Chunk interpret(const EventParser::Event& event);

/// The message of an error that a server answers with, as far as it can be understood; at most
/// `most` bytes, on one line.
std::string error_message(std::string_view body, std::size_t most = 200);

}  // namespace profline::load
