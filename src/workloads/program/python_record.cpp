#include "workloads/program/python_record.h"

#include <set>

#include "base/strings.h"
#include "formats/json.h"
#include "schema/docs.h"
#include "schema/read.h"

namespace profline::program {
namespace {

/// The keys of a struct, to ignore others.
template <typename T>
class KnownKeys {
 public:
  KnownKeys() {
    for (const schema::FieldDoc& doc : schema::describe<T>()) keys_.insert(doc.path);
  }

  /// The part of a line that the struct has.
  Node part_of(const Node& line) const {
    NodeMap kept;
    for (const NodeMap::Entry& entry : line.as_map()) {
      const bool is_known = entry.key.is_string() && keys_.contains(entry.key.as_string());
      if (is_known) kept.set(entry.key, entry.value);
    }
    return Node::map(std::move(kept));
  }

 private:
  std::set<std::string> keys_;
};

std::string text_at(const Node& line, std::string_view key) {
  const Node* value = line.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::optional<std::int64_t> integer_at(const Node& line, std::string_view key) {
  const Node* value = line.find(key);
  if (value == nullptr || !value->is_int()) return std::nullopt;
  return value->as_int();
}

std::optional<std::string> version_at(const Node& line, std::string_view key) {
  std::string text = text_at(line, key);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// The lines of one file, read one by one.
class Reader {
 public:
  Result<void> take(const Node& line) {
    if (!line.is_map()) return Error(ErrorKind::Parse, "is not an object");
    const std::string kind = text_at(line, "kind");
    if (kind == "process") return take_process(line);
    if (kind == "request") return take_request(line);
    if (kind == "model") return take_model(line);
    if (kind == "mark") return take_mark(line);
    if (kind == "gate") return keep(gates_.part_of(line), record_.gates);
    if (kind == "range") return keep(ranges_.part_of(line), record_.ranges);
    if (kind == "end") return {};  // the process ended by itself
    if (kind == "problem") {
      record_.problems.push_back(text_at(line, "text"));
      return {};
    }
    return Error(ErrorKind::Parse, "has no known kind: '" + kind + "'");
  }

  PythonRecord finish() && { return std::move(record_); }
  void skip(std::string why) { record_.skipped.push_back(std::move(why)); }

 private:
  template <typename T>
  Result<void> keep(const Node& line, std::vector<T>& rows) {
    rows.push_back(PL_TRY(schema::read<T>(line)));
    return {};
  }

  Result<void> take_process(const Node& line) {
    record_.pid = integer_at(line, "pid").value_or(0);
    record_.python = text_at(line, "python");
    record_.started = text_at(line, "started");
    record_.torch = version_at(line, "torch");
    record_.transformers = version_at(line, "transformers");
    return {};
  }

  Result<void> take_model(const Node& line) {
    Node known = models_.part_of(line);
    if (known.find("pid") == nullptr) known.as_map().set("pid", Node::integer(record_.pid));
    record_.models.push_back(PL_TRY(schema::read<RecordedModel>(known)));
    return {};
  }

  Result<void> take_mark(const Node& line) {
    PL_TRY(keep(marks_.part_of(line), record_.marks));
    record_.marks.back().pid = record_.pid;
    return {};
  }

  Result<void> take_request(const Node& line) {
    PlacedRequest placed;
    placed.pid = integer_at(line, "pid").value_or(record_.pid);
    placed.thread = static_cast<std::uint64_t>(integer_at(line, "thread").value_or(0));
    if (const auto model = integer_at(line, "model"); model && *model >= 0) {
      placed.model = static_cast<std::uint64_t>(*model);
    }
    Node known = requests_.part_of(line);
    known.as_map().set("id", Node::integer(static_cast<std::int64_t>(record_.requests.size())));
    known.as_map().set("source", Node::string(std::string(schema::name_of(RequestSource::Python))));
    placed.request = PL_TRY(schema::read<Request>(known));
    record_.requests.push_back(std::move(placed));
    return {};
  }

  KnownKeys<Request> requests_;
  KnownKeys<RecordedModel> models_;
  KnownKeys<Mark> marks_;
  KnownKeys<Gate> gates_;
  KnownKeys<LooseRange> ranges_;
  PythonRecord record_;
};

}  // namespace

PythonRecord parse_python_record(std::string_view text, const std::string& source) {
  Reader reader;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string place = source + ":" + std::to_string(number);
    const auto parsed = parse_json(line, "");
    const Result<void> taken = parsed ? reader.take(*parsed) : Result<void>(parsed.error());
    if (!taken) reader.skip(place + ": " + taken.error().message());
  }
  return std::move(reader).finish();
}

}  // namespace profline::program
