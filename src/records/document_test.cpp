#include "records/document.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

constexpr DocumentKind kKind{"rows", 2};

TEST(Document, BeginsWithItsKindAndReadsBack) {
  NodeMap body;
  body.set("rows", Node::integer(3));
  const auto text = write_document(kKind, Node::map(std::move(body)));
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(*text, "{\n  \"schema\": \"profline.rows/2\",\n  \"rows\": 3\n}\n");
  const auto back = parse_document(*text, kKind, "rows.json");
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->as_map().size(), 1U);
  EXPECT_EQ(*back->find("rows"), Node::integer(3));
}

TEST(Document, OfAnOlderEditionIsTaken) {
  EXPECT_TRUE(parse_document(R"({"schema": "profline.rows/1"})", kKind, "rows.json"));
}

TEST(Document, OfAnotherKindOrANewerEditionIsRefusedByName) {
  struct Case {
    std::string_view name, text, message;
  };
  constexpr Case kCases[] = {
      {"newer", R"({"schema": "profline.rows/3"})",
       "rows.json must begin with \"schema\": \"profline.rows/2\", not \"profline.rows/3\": a "
       "newer "
       "profline wrote it"},
      {"another kind", R"({"schema": "profline.row/1"})",
       "rows.json must begin with \"schema\": \"profline.rows/2\", not \"profline.row/1\""},
      {"no number", R"({"schema": "profline.rows/x"})",
       "rows.json must begin with \"schema\": \"profline.rows/2\", not \"profline.rows/x\""},
      {"no kind", R"({"rows": 1})", "rows.json must begin with \"schema\": \"profline.rows/2\""},
      {"no object", "[1]", "rows.json must begin with \"schema\": \"profline.rows/2\""},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto body = parse_document(c.text, kKind, "rows.json");
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().to_string(), c.message);
  }
}

}  // namespace
}  // namespace profline
