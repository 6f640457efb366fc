#include "tools/kineto/protocol.h"

#include <cstring>

#include <fmt/core.h>

namespace profline::kineto {
namespace {

// A datagram, in the machine's byte order: 8 bytes of body size, 32 bytes of type, the body.
constexpr std::size_t kTypeBytes = 32;
constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t) + kTypeBytes;
// The body of `ctxt`: GPU, pid, job. That of `req`: kinds, number of pids, job, the pids.
constexpr std::size_t kContextBytes = 16;
constexpr std::size_t kRequestBytes = 16;
constexpr std::int32_t kActivities = 2;  // the bit for a trace in a request
constexpr std::int32_t kMostPids = 4096;

constexpr std::string_view kContext = "ctxt";
constexpr std::string_view kRequest = "req";

template <typename T>
T value_at(std::string_view bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Error not_a_message(std::string why) {
  return {ErrorKind::Parse, "not a message of libkineto: " + std::move(why)};
}

Result<Message> parse_context(std::string_view body) {
  if (body.size() != kContextBytes) {
    return not_a_message(fmt::format("a registration of {} bytes", body.size()));
  }
  Message message{.kind = Message::Kind::Context};
  message.gpu = value_at<std::int32_t>(body, 0);
  message.pids = {value_at<std::int32_t>(body, 4)};
  message.job = value_at<std::int64_t>(body, 8);
  return message;
}

Result<Message> parse_request(std::string_view body) {
  if (body.size() < kRequestBytes) {
    return not_a_message(fmt::format("a request of {} bytes", body.size()));
  }
  Message message{.kind = Message::Kind::Request};
  message.wants = value_at<std::int32_t>(body, 0);
  const auto count = value_at<std::int32_t>(body, 4);
  message.job = value_at<std::int64_t>(body, 8);
  if (count < 1 || count > kMostPids ||
      body.size() != kRequestBytes + static_cast<std::size_t>(count) * sizeof(std::int32_t)) {
    return not_a_message(fmt::format("a request of {} bytes for {} pids", body.size(), count));
  }
  for (std::int32_t i = 0; i < count; ++i) {
    message.pids.push_back(value_at<std::int32_t>(
        body, kRequestBytes + static_cast<std::size_t>(i) * sizeof(std::int32_t)));
  }
  return message;
}

}  // namespace

bool Message::takes_trace() const {
  return kind == Kind::Request && (static_cast<std::uint32_t>(wants) & kActivities) != 0;
}

Result<Message> parse_message(std::string_view datagram) {
  if (datagram.size() < kHeaderBytes) {
    return not_a_message(fmt::format("{} bytes", datagram.size()));
  }
  const auto size = value_at<std::uint64_t>(datagram, 0);
  std::string_view type = datagram.substr(sizeof size, kTypeBytes);
  const std::size_t end = type.find('\0');
  if (end == std::string_view::npos) return not_a_message("a type without an end");
  type = type.substr(0, end);
  const std::string_view body = datagram.substr(kHeaderBytes);
  if (size != body.size()) {
    return not_a_message(fmt::format("a body of {} bytes, announced as {}", body.size(), size));
  }
  Result<Message> message = type == kContext   ? parse_context(body)
                            : type == kRequest ? parse_request(body)
                                               : not_a_message("an unknown type");
  if (message && message->pid() <= 0) return not_a_message("a process without a number");
  return message;
}

std::string answer(Message::Kind kind, std::string_view body) {
  const std::string_view type = kind == Message::Kind::Context ? kContext : kRequest;
  std::string datagram(kHeaderBytes, '\0');
  const std::uint64_t size = body.size();
  std::memcpy(datagram.data(), &size, sizeof size);
  type.copy(datagram.data() + sizeof size, type.size());
  return datagram.append(body);
}

std::string registration_body() {
  const std::int32_t instances = 1;
  std::string body(sizeof instances, '\0');
  std::memcpy(body.data(), &instances, sizeof instances);
  return body;
}

std::string trace_config(const TraceRequest& request) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string text = fmt::format(
      "ACTIVITIES_LOG_FILE={}\nACTIVITIES_DURATION_MSECS={}\nACTIVITIES_WARMUP_PERIOD_SECS=0\n"
      "PROFILE_REPORT_INPUT_SHAPES={}\nPROFILE_PROFILE_MEMORY={}\nPROFILE_WITH_STACK={}\n",
      request.file.string(), request.duration.count(), flag(request.shapes), flag(request.memory),
      flag(request.stacks));
  // Without ACTIVITY_TYPES, libkineto records both.
  if (request.cpu && !request.cuda) text += "ACTIVITY_TYPES=cpu_op,user_annotation\n";
  if (request.cuda && !request.cpu) {
    text += "ACTIVITY_TYPES=kernel,gpu_memcpy,gpu_memset,cuda_runtime,cuda_driver\n";
  }
  return text;
}

std::filesystem::path trace_file(const std::filesystem::path& file, std::int64_t pid) {
  const std::string name = fmt::format("{}_{}.json", file.stem().string(), pid);
  return file.parent_path() / name;
}

std::optional<std::string> unusable_trace_folder(const std::filesystem::path& folder) {
  const std::string path = folder.string();
  if (path.find(".json") != std::string::npos) {
    return "libkineto would insert the pid at the first '.json' of " + path;
  }
  if (path.find("..") != std::string::npos) return "libkineto refuses paths with '..': " + path;
  const bool has_break = path.find('\n') != std::string::npos;
  if (has_break) return "libkineto cannot read a path with a line break: " + path;
  return std::nullopt;
}

}  // namespace profline::kineto
