#include "records/document.h"

#include <algorithm>
#include <charconv>

#include "formats/json.h"

namespace profline {
namespace {

constexpr std::string_view kPrefix = "profline.";

std::string tag_of(const DocumentKind& kind) {
  return std::string(kPrefix) + std::string(kind.name) + "/" + std::to_string(kind.version);
}

/// The edition in `profline.<name>/<n>`; 0 if the text is of another kind.
int edition_in(std::string_view tag, std::string_view name) {
  const std::string start = std::string(kPrefix) + std::string(name) + "/";
  if (!tag.starts_with(start)) return 0;
  int edition = 0;
  const char* end = tag.data() + tag.size();
  const auto [rest, status] = std::from_chars(tag.data() + start.size(), end, edition);
  return status == std::errc() && rest == end ? edition : 0;
}

}  // namespace

Result<std::string> write_document(const DocumentKind& kind, Node body) {
  NodeMap document;
  document.set("schema", Node::string(tag_of(kind)));
  for (NodeMap::Entry& entry : body.as_map()) {
    document.set(std::move(entry.key), std::move(entry.value));
  }
  return write_json(Node::map(std::move(document)));
}

Result<Node> parse_document(std::string_view text, const DocumentKind& kind,
                            const std::string& source) {
  return document_body(PL_TRY(parse_json(text, source)), kind, source);
}

Result<Node> document_body(const Node& document, const DocumentKind& kind,
                           const std::string& source) {
  const Node* tag = document.is_map() ? document.find("schema") : nullptr;
  const std::string found = tag != nullptr && tag->is_string() ? tag->as_string() : "";
  const int edition = edition_in(found, kind.name);
  if (edition < 1 || edition > kind.version) {
    return Error(ErrorKind::Parse, source + " must begin with \"schema\": \"" + tag_of(kind) +
                                       "\"" + (found.empty() ? "" : ", not \"" + found + "\"") +
                                       (edition > 0 ? ": a newer profline wrote it" : ""));
  }
  NodeMap body;
  for (const NodeMap::Entry& entry : document.as_map()) {
    if (&entry.value != tag) body.set(entry.key, entry.value);
  }
  return Node::map(std::move(body));
}

std::uint64_t Reading::events() const {
  std::uint64_t all = used;
  for (const Skipped& entry : skipped) all += entry.count;
  return all;
}

void Reading::skip(std::string_view reason, std::string_view position, std::uint64_t count,
                   bool is_of_the_tool) {
  const auto known = std::ranges::find(skipped, reason, &Skipped::reason);
  if (known != skipped.end()) {
    known->count += count;
    return;
  }
  skipped.push_back({std::string(reason), count, std::string(position), is_of_the_tool});
}

void Reading::append(const Reading& other) {
  used += other.used;
  lost += other.lost;
  for (const Skipped& one : other.skipped) {
    skip(one.reason, one.first_position, one.count, one.is_of_the_tool);
  }
  for (const std::string& note : other.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  losses.insert(losses.end(), other.losses.begin(), other.losses.end());
}

}  // namespace profline
