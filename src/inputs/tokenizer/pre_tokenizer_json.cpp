#include <array>

#include "inputs/tokenizer/internal/cursor.h"
#include "inputs/tokenizer/internal/tokenizer_json.h"

namespace profline::tokenizer::internal {
namespace {

// How GPT-2 splits text, which ByteLevel does unless it is told not to.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Result<Behavior> read_behavior(const Cursor& cursor) {
  struct Name {
    std::string_view text;
    Behavior behavior;
  };
  constexpr std::array kNames = {
      Name{"Removed", Behavior::Removed},
      Name{"Isolated", Behavior::Isolated},
      Name{"MergedWithPrevious", Behavior::MergedWithPrevious},
      Name{"MergedWithNext", Behavior::MergedWithNext},
      Name{"Contiguous", Behavior::Contiguous},
  };
  for (const Name& name : kNames) {
    if (cursor.is(name.text)) return name.behavior;
  }
  return cursor.mismatch(
      "one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

Result<Split> read_split(const Cursor& cursor) {
  const Behavior behavior = PL_TRY(read_behavior(PL_TRY(cursor.at("behavior"))));
  const bool invert = PL_TRY(cursor.flag("invert", false));
  const Cursor pattern = PL_TRY(cursor.at("pattern"));
  if (const auto literal = pattern.find("String")) {
    return Split{PL_TRY(literal->text()), behavior, invert};
  }
  const auto regex = pattern.find("Regex");
  if (!regex) return pattern.wrong("must have a string 'Regex' or 'String'");
  auto compiled = Regex::compile(PL_TRY(regex->text()));
  if (!compiled) return regex->wrong(compiled.error().message());
  return Split{std::move(*compiled), behavior, invert};
}

Result<void> read_byte_level(const Cursor& cursor, PreTokenizer& out) {
  out.add_prefix_space = PL_TRY(cursor.flag("add_prefix_space", true));
  if (PL_TRY(cursor.flag("use_regex", true))) {
    out.byte_level = Split{PL_TRY(Regex::compile(kGpt2Pattern)), Behavior::Isolated, false};
  }
  return {};
}

/// The stages, whether there is a Sequence around them or only one.
Result<std::vector<Cursor>> stages_of(const Cursor& cursor) {
  if (!PL_TRY(cursor.at("type")).is("Sequence")) return std::vector{cursor};
  const Cursor list = PL_TRY(cursor.at("pretokenizers"));
  PL_TRY(list.require_list());
  std::vector<Cursor> stages;
  for (std::size_t i = 0; i < list.node().as_list().size(); ++i) stages.push_back(list.item(i));
  return stages;
}

}  // namespace

Result<PreTokenizer> read_pre_tokenizer(const Node& tree) {
  const Cursor root(tree, "");
  const auto cursor = root.find("pre_tokenizer");
  if (!cursor) return root.wrong("must have a pre_tokenizer that ends in ByteLevel");
  PreTokenizer out;
  bool has_byte_level = false;
  for (const Cursor& stage : PL_TRY(stages_of(*cursor))) {
    if (has_byte_level) return stage.wrong("nothing may follow ByteLevel");
    const Cursor type = PL_TRY(stage.at("type"));
    if (type.is("Split")) {
      out.splits.push_back(PL_TRY(read_split(stage)));
    } else if (type.is("ByteLevel")) {
      PL_TRY(read_byte_level(stage, out));
      has_byte_level = true;
    } else {
      return type.mismatch("Split or ByteLevel");
    }
  }
  if (!has_byte_level) return cursor->wrong("must end in ByteLevel: only byte-level BPE is known");
  return out;
}

}  // namespace profline::tokenizer::internal
