#include "testing/captures/test_recording.h"

#include <cstring>

#include <gtest/gtest.h>

namespace profline::testing {

using namespace recorder;

namespace {

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_chunk(std::string& bytes, ChunkKind kind, std::uint32_t number, std::uint32_t lap,
                  std::uint32_t thread, const std::string& content) {
  ChunkHeader header{};
  const std::size_t used = sizeof header + content.size();
  const std::size_t all = (used + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
  header.magic = kChunkMagic;
  header.kind = static_cast<std::uint32_t>(kind);
  header.bytes = static_cast<std::uint32_t>(all);
  header.stage = number;
  header.state = static_cast<std::uint64_t>(lap) << 32 | used;
  header.thread = thread;
  append(bytes, header);
  bytes += content;
  bytes.append(all - used, '\0');
}

}  // namespace

TestRecording::TestRecording() {
  header_.magic = kFileMagic;
  header_.version = kVersion;
  header_.header_bytes = kHeaderBytes;
  header_.pid = 100;
  header_.parent_pid = 99;
  header_.start_ns = 5;
  std::strcpy(header_.program, "infer");
  stage(1).thread(100);
}

std::uint32_t TestRecording::id_of(std::string_view name) {
  if (name.empty()) return kNoName;
  const auto [place, is_new] =
      ids_.emplace(name, kFirstName + static_cast<std::uint32_t>(ids_.size()));
  if (is_new) {
    append(names_, NameHeader{place->second, static_cast<std::uint32_t>(name.size()), 0, 0});
    names_ += name;
    names_.append(padded_name_bytes(name.size()) - name.size(), '\0');
  }
  return place->second;
}

TestRecording& TestRecording::stage(std::uint32_t number, std::uint32_t lap, std::uint32_t thread) {
  chunks_.push_back({.number = number, .lap = lap, .thread = thread, .content = ""});
  return *this;
}

TestRecording& TestRecording::raw(const Event& event) {
  append(chunks_.back().content, event);
  return *this;
}

TestRecording& TestRecording::event(EventKind kind, std::uint64_t value, std::string_view domain,
                                    std::string_view name) {
  return raw({value, pack_meta(kind, id_of(domain), id_of(name))});
}

TestRecording& TestRecording::thread(std::uint32_t thread) {
  return raw({1, pack_meta(EventKind::Thread, 0, thread)});
}

TestRecording& TestRecording::push(std::string_view name, std::uint64_t ns,
                                   std::string_view domain) {
  return event(EventKind::Push, ns, domain, name);
}

TestRecording& TestRecording::pop(std::uint64_t ns, std::string_view domain) {
  return event(EventKind::Pop, ns, domain);
}

TestRecording& TestRecording::range(std::string_view name, std::uint64_t start_ns,
                                    std::uint64_t end_ns) {
  return push(name, start_ns).pop(end_ns);
}

TestRecording& TestRecording::leaf(std::string_view name, std::uint64_t start_ns,
                                   std::uint32_t ns) {
  return raw({start_ns, pack_meta(EventKind::Leaf, ns, id_of(name))});
}

TestRecording& TestRecording::request(std::uint64_t ns) {
  return event(EventKind::Request, ns, "", "request");
}

TestRecording& TestRecording::start(std::string_view name, std::uint64_t id, std::uint64_t ns) {
  return event(EventKind::Start, ns, "", name).event(EventKind::Id, id);
}

TestRecording& TestRecording::end(std::uint64_t id, std::uint64_t ns) {
  return event(EventKind::End, ns).event(EventKind::Id, id);
}

TestRecording& TestRecording::step(std::uint64_t ns) {
  return event(EventKind::Step, ns, "", "step");
}

TestRecording& TestRecording::number(std::string_view name, std::uint64_t value) {
  return event(EventKind::Number, value, "", name);
}

std::string TestRecording::bytes() const {
  std::string bytes;
  append(bytes, header_);
  bytes.append(kHeaderBytes - bytes.size(), '\0');
  append_chunk(bytes, ChunkKind::Names, 0, 0, 0, names_);
  for (const Chunk& chunk : chunks_) {
    append_chunk(bytes, ChunkKind::Events, chunk.number, chunk.lap, chunk.thread, chunk.content);
  }
  return bytes;
}

ProcessRanges parsed(const TestRecording& recording) {
  auto process = parse_recording(recording.bytes(), "ranges.bin");
  EXPECT_TRUE(process) << process.error().to_string();
  return process ? *std::move(process) : ProcessRanges{};
}

}  // namespace profline::testing
