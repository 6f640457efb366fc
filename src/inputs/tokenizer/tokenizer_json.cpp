#include "inputs/tokenizer/internal/tokenizer_json.h"

#include "inputs/tokenizer/internal/cursor.h"

namespace profline::tokenizer::internal {
namespace {

Result<void> check_version(const Cursor& root) {
  const auto version = root.find("version");
  if (!version) return {};
  if (!version->is("1.0")) return version->mismatch("'1.0'");
  return {};
}

/// Null, or a Sequence of nothing.
Result<void> check_normalizer(const Cursor& root) {
  const auto normalizer = root.find("normalizer");
  if (!normalizer) return {};
  const Cursor type = PL_TRY(normalizer->at("type"));
  if (!type.is("Sequence")) return type.mismatch("'Sequence', an empty one");
  const Cursor list = PL_TRY(normalizer->at("normalizers"));
  PL_TRY(list.require_list());
  if (list.node().as_list().empty()) return {};
  return list.wrong("must be empty: text is encoded as it is");
}

Result<void> check_decoder(const Cursor& root) {
  const Cursor decoder = PL_TRY(root.at("decoder"));
  if (!decoder.node().is_map()) return decoder.mismatch("a map with type ByteLevel");
  const Cursor type = PL_TRY(decoder.at("type"));
  if (!type.is("ByteLevel")) return type.mismatch("'ByteLevel'");
  return {};
}

}  // namespace

Result<Description> read_tokenizer(const Node& tree) {
  const Cursor root(tree, "");
  if (!tree.is_map()) return root.mismatch("a map");
  PL_TRY(check_version(root));
  PL_TRY(check_normalizer(root));
  PL_TRY(check_decoder(root));
  Description description;
  description.pre_tokenizer = PL_TRY(read_pre_tokenizer(tree));
  PL_TRY(read_model(tree, description));
  description.added = PL_TRY(read_added_tokens(tree, description.vocabulary));
  return description;
}

}  // namespace profline::tokenizer::internal
