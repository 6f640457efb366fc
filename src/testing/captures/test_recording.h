#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/format/layout.h"
#include "tools/recorder/recording.h"

/// Makes the bytes of a recording, event by event.
namespace profline::testing {

class TestRecording {
 public:
  TestRecording();

  recorder::FileHeader& header() { return header_; }
  /// The following events are from another stage, which is added to the file; `lap` as in the file.
  TestRecording& stage(std::uint32_t number, std::uint32_t lap = 0, std::uint32_t thread = 0);
  TestRecording& thread(std::uint32_t thread);
  TestRecording& push(std::string_view name, std::uint64_t ns, std::string_view domain = "");
  TestRecording& pop(std::uint64_t ns, std::string_view domain = "");
  TestRecording& range(std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns);
  TestRecording& leaf(std::string_view name, std::uint64_t start_ns, std::uint32_t ns);
  TestRecording& request(std::uint64_t ns);
  TestRecording& start(std::string_view name, std::uint64_t id, std::uint64_t ns);
  TestRecording& end(std::uint64_t id, std::uint64_t ns);
  TestRecording& step(std::uint64_t ns);
  TestRecording& number(std::string_view name, std::uint64_t value);
  TestRecording& event(recorder::EventKind kind, std::uint64_t value, std::string_view domain = "",
                       std::string_view name = "");
  TestRecording& raw(const recorder::Event& event);

  std::string bytes() const;

 private:
  struct Chunk {
    std::uint32_t number = 0;
    std::uint32_t lap = 0;
    std::uint32_t thread = 0;
    std::string content;
  };

  std::uint32_t id_of(std::string_view name);

  recorder::FileHeader header_{};
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::string names_;
  std::vector<Chunk> chunks_;
};

/// The recording as the reader sees it; a failed expectation if it cannot be read.
recorder::ProcessRanges parsed(const TestRecording& recording);

}  // namespace profline::testing
