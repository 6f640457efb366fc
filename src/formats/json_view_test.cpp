#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/json.h"
#include "formats/json_stream.h"

namespace profline {
namespace {

/// Calls `look` with the view of one value.
void view(const std::string& text, const std::function<void(const JsonView&)>& look) {
  JsonStreamHandlers handlers;
  handlers.element = [&](const JsonView& element, std::uint64_t) -> Result<void> {
    look(element);
    return {};
  };
  const auto totals = read_json_list(chunks_of('[' + text + ']'), "", handlers);
  ASSERT_TRUE(totals) << totals.error().to_string();
  ASSERT_EQ(totals->elements, 1U);
}

TEST(JsonView, GivesEachKindAndNothingForAnother) {
  view(R"({"s": "a\u00e9", "i": -3, "u": 18446744073709551615, "f": 1.5, "b": true, "n": null})",
       [](const JsonView& event) {
         EXPECT_EQ(event.find("s")->string(), "a\xC3\xA9");
         EXPECT_EQ(event.find("s")->number(), std::nullopt);
         EXPECT_EQ(event.find("i")->integer(), -3);
         EXPECT_EQ(event.find("i")->number(), -3.0);
         EXPECT_EQ(event.find("i")->unsigned_integer(), std::nullopt);
         EXPECT_EQ(event.find("u")->unsigned_integer(), UINT64_MAX);
         EXPECT_EQ(event.find("u")->integer(), std::nullopt);
         EXPECT_EQ(event.find("u")->kind(), Node::Kind::BigInt);
         EXPECT_EQ(event.find("f")->number(), 1.5);
         EXPECT_EQ(event.find("f")->integer(), std::nullopt);
         EXPECT_EQ(event.find("b")->boolean(), true);
         EXPECT_EQ(event.find("b")->string(), std::nullopt);
         EXPECT_TRUE(event.find("n")->is_null());
         EXPECT_FALSE(event.find("absent"));
         EXPECT_FALSE(event.find("s")->find("x"));
         EXPECT_FALSE(event.is_null());
       });
}

TEST(JsonView, IteratesFieldsAndItems) {
  view(R"({"a": [1, [2, 3], {}], "b": {"c": 4}, "": []})", [](const JsonView& event) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : event.fields()) keys.emplace_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"a", "b", ""}));
    std::vector<Node::Kind> kinds;
    for (const JsonView item : event.find("a")->items()) kinds.push_back(item.kind());
    EXPECT_EQ(kinds, (std::vector{Node::Kind::Int, Node::Kind::List, Node::Kind::Map}));
    EXPECT_TRUE(event.find("")->items().begin() == event.find("")->items().end());
    EXPECT_TRUE(event.items().begin() == event.items().end());
    EXPECT_TRUE(event.find("a")->fields().begin() == event.find("a")->fields().end());
  });
}

TEST(JsonView, FindsTheFirstOfSeveralAndCopiesTheLast) {
  view(R"({"a": 1, "a": 2})", [](const JsonView& event) {
    EXPECT_EQ(event.find("a")->integer(), 1);
    EXPECT_EQ(event.to_node().find("a")->as_int(), 2);
  });
}

TEST(JsonView, CopiesWhatTheTreeParserReads) {
  const std::string text =
      R"({"s": "x", "i": -3, "u": 18446744073709551615, "f": 1.0, "b": false, "n": null, "l": [1, {"m": []}]})";
  view(text, [&](const JsonView& event) {
    EXPECT_EQ(event.to_node(), parse_json(text, "text").value());
  });
}

}  // namespace
}  // namespace profline
