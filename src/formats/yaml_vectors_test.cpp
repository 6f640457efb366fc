// The reader and the writer against the answers of OmegaConf 2.3: files of shared/hydra-vectors.

#include <charconv>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "formats/yaml.h"
#include "testing/paths.h"

namespace profline {
namespace {

using Json = nlohmann::ordered_json;

Node node_of(const Json& json);

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    int byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

Node map_of_pairs(const Json& pairs) {
  NodeMap map;
  for (const Json& pair : pairs) map.set(node_of(pair.at(0)), node_of(pair.at(1)));
  return Node::map(std::move(map));
}

Node node_of_object(const Json& json) {
  if (json.contains("$float")) {
    const std::string& text = json.at("$float").get_ref<const std::string&>();
    return Node::real(std::stod(text));
  }
  if (json.contains("$int")) return Node::big_integer(json.at("$int"));
  if (json.contains("$bytes")) return Node::bytes(bytes_of_hex(json.at("$bytes")));
  if (json.contains("$dict")) return map_of_pairs(json.at("$dict"));
  NodeMap map;
  for (const auto& [key, value] : json.items()) map.set(key, node_of(value));
  return Node::map(std::move(map));
}

Node node_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Node::boolean(json.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return Node::integer(json.get<std::int64_t>());
    case Json::value_t::number_float:
      return Node::real(json.get<double>());
    case Json::value_t::string:
      return Node::string(json.get<std::string>());
    case Json::value_t::array: {
      Node::List list;
      for (const Json& item : json) list.push_back(node_of(item));
      return Node::list(std::move(list));
    }
    case Json::value_t::object:
      return node_of_object(json);
    default:
      return {};
  }
}

std::vector<Json> vectors(const std::string& file) {
  std::ifstream stream(testing::shared_dir() / "hydra-vectors" / file);
  std::vector<Json> out;
  for (std::string line; std::getline(stream, line);) out.push_back(Json::parse(line));
  return out;
}

/// What a config loader, not the reader, does with a document: null is an empty map, a string a key
/// without a value, any other scalar an error.
Result<Node> config_root(Result<Node> document) {
  if (!document || !document->is_scalar()) return document;
  if (document->is_null()) return Node::map();
  if (!document->is_string()) return Error(ErrorKind::Config, "neither a map nor a list");
  NodeMap map;
  map.set(std::move(*document), Node());
  return Node::map(std::move(map));
}

class YamlVectors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(testing::shared_dir() / "hydra-vectors")) {
      GTEST_SKIP() << "no conformance vectors beside the project (" << testing::shared_dir() << ")";
    }
  }
};

TEST_F(YamlVectors, ReadsEveryDocumentAsOmegaConfDoes) {
  const std::vector<Json> all = vectors("yaml.jsonl");
  ASSERT_GE(all.size(), 300U);
  for (const Json& vector : all) {
    SCOPED_TRACE(vector.at("id").get<std::string>() + ": " + vector.at("input").dump());
    const Json& expected = vector.at("expected");
    const Result<Node> read =
        config_root(parse_yaml(vector.at("input").at("yaml").get<std::string>(), "in.yaml"));
    if (!expected.at("ok").get<bool>()) {
      EXPECT_FALSE(read) << expected.at("error").dump();
      continue;
    }
    ASSERT_TRUE(expected.contains("value")) << expected.dump();
    EXPECT_TRUE(read) << (read ? "" : read.error().to_string());
    if (!read) continue;
    EXPECT_EQ(*read, node_of(expected.at("value")))
        << "read:\n"
        << write_yaml(*read) << "expected: " << expected.at("value");
  }
}

TEST_F(YamlVectors, ReadsTheDocumentsOfOtherVectors) {
  for (const Json& vector : vectors("resolve.jsonl")) {
    SCOPED_TRACE(vector.at("id").get<std::string>() + ": " + vector.at("input").dump());
    const Json& expected = vector.at("expected");
    const bool is_yaml_error =
        !expected.at("ok").get<bool>() && expected.at("error").at("category") == "yaml";
    const Result<Node> read = parse_yaml(vector.at("input").at("yaml").get<std::string>(), "in");
    EXPECT_EQ(read.has_value(), !is_yaml_error) << (read ? "" : read.error().to_string());
  }
}

TEST_F(YamlVectors, WritesEveryConfigByteForByteAndReadsItBack) {
  std::size_t compared = 0;
  for (const Json& vector : vectors("compose.jsonl")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const Json& expected = vector.at("expected");
    if (!expected.at("ok").get<bool>() || !expected.contains("yaml")) continue;
    const Node config = node_of(expected.at("config"));
    const std::string dump = expected.at("yaml");
    EXPECT_EQ(write_yaml(config), dump);
    const Result<Node> read = config_root(parse_yaml(dump, "dump.yaml"));
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(*read, config) << dump;
    ++compared;
  }
  EXPECT_GE(compared, 700U);
}

}  // namespace
}  // namespace profline
