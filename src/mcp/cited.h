#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

/// Answers in which every figure names the place that it is from, so that anybody can check it.
namespace profline::mcp {

/// The value at a JSON pointer (RFC 6901); null without one.
const Node* at_pointer(const Node& tree, std::string_view pointer);
/// `pointer` extended by a key or an index: `/phases` and `0` are `/phases/0`.
std::string below(std::string_view pointer, std::string_view key);
std::string below(std::string_view pointer, std::size_t index);

/// A JSON document that anybody can look at again: a file, or what a command prints.
struct Document {
  std::string file{};     ///< absolute
  std::string command{};  ///< `profline compare /runs/a /runs/b --format json`, for a shell
  std::string folder{};   ///< that the command has to start in; empty: any
  std::shared_ptr<const Node> tree{};  ///< shared by the facts that are read from it
};

/// Traces may be larger; the tool `trace` reads those.
inline constexpr std::uint64_t kLargestDocument = std::uint64_t{64} << 20U;

/// A JSON file, without secrets. An Error if it is missing, not JSON or larger than that.
Result<Document> read_document(const std::filesystem::path& file);
/// What a command with these words prints.
Document printed_by(const std::vector<std::string>& words, Node tree,
                    const std::filesystem::path& folder = {});

/// An answer in the making.
class Answer {
 public:
  /// The number of a document, which facts refer to.
  std::size_t add(Document document);
  const Node& tree(std::size_t document) const { return *documents_[document].tree; }

  /// In a sentence or two. It contains no figure that is not also a fact.
  void say(const std::string& sentence);
  /// Adds what the document has at `pointer`, unless that is nothing, null, empty, or a list or
  /// map. Returns whether it did. `what` is what the value is of: `decode: mean_ns`. `words` is the
  /// value as people write it, if its key does not tell.
  bool fact(std::size_t document, const std::string& pointer, std::string what,
            std::string words = {});
  /// The same for these keys of a map, `what` extended by each.
  void facts(std::size_t document, const std::string& pointer, const std::string& what,
             const std::vector<std::string_view>& keys);
  /// Every value at or below `pointer` whose path satisfies `wanted`.
  void every_fact(std::size_t document, const std::string& pointer, const std::string& what,
                  const std::function<bool(std::string_view what)>& wanted = {});

  /// What was asked for and is not there, and why.
  void missing(std::string what, std::string why);
  /// What else a reader must know. Each is stated once.
  void note(std::string text);

  std::size_t fact_count() const { return facts_.size(); }
  bool lacks_anything() const { return !missing_.empty(); }

  /// The facts beyond the first `most` are left out, and their number is stated.
  Node to_node(std::size_t most = kMostFacts) const;
  static constexpr std::size_t kMostFacts = 150;

 private:
  struct Fact {
    std::string what;
    std::size_t document;
    std::string pointer;
    std::string words;
  };
  struct Absence {
    std::string what;
    std::string why;
  };

  std::string text_;
  std::vector<Document> documents_;
  std::vector<Fact> facts_;
  std::vector<Absence> missing_;
  std::vector<std::string> notes_;
};

/// A value as people write it, judged by its key: `5.11 ms` for `mean_ns`, `37.9 %` for
/// `busy_share`. Empty if the value alone says as much.
std::string value_words(std::string_view key, const Node& value);

}  // namespace profline::mcp
