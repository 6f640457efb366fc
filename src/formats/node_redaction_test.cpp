#include "formats/node_redaction.h"

#include <gtest/gtest.h>

#include "formats/json.h"
#include "formats/json_write.h"

namespace profline {
namespace {

Node tree(const char* json) {
  return parse_json(json, "test").value();
}

std::string text(const Node& node) {
  return write_json(node, {.indent = 0}).value();
}

constexpr const char* kConfig = R"({
  "infer": {"max_new_tokens": 512, "prompt": "say https://me:hunter2@host"},
  "hub": {"token": "opensesame", "eos_token": "</s>", "use_auth": true},
  "credentials": {"user": "me", "pin": 1234},
  "workload": {"command": ["python", "a.py", "--token", "swordfish", "--pin", 5, "--password", 77,
                           "--verbose"]},
  "note": "opensesame and ${oc.env:HF_TOKEN}",
  "env": {"HF_TOKEN": "${oc.env:HF_TOKEN}"}
})";

TEST(NodeRedaction, ReplacesValuesAndKeepsKeys) {
  const Node config = tree(kConfig);
  Redactor redactor;
  know_secrets(config, redactor);
  const Node expected = tree(R"({
    "infer": {"max_new_tokens": 512, "prompt": "say https://me:<redacted>@host"},
    "hub": {"token": "<redacted>", "eos_token": "</s>", "use_auth": true},
    "credentials": {"user": "<redacted>", "pin": "<redacted>"},
    "workload": {"command": ["python", "a.py", "--token", "<redacted>", "--pin", 5, "--password",
                             "<redacted>", "--verbose"]},
    "note": "<redacted> and ${oc.env:HF_TOKEN}",
    "env": {"HF_TOKEN": "${oc.env:HF_TOKEN}"}
  })");
  EXPECT_EQ(text(redacted(config, redactor)), text(expected));
}

TEST(NodeRedaction, WhatWasReplacedCanBePutBack) {
  const Node config = tree(kConfig);
  Redactor redactor;
  know_secrets(config, redactor);
  Node without = redacted(config, redactor);
  const Node part = redacted_part(config, without);
  EXPECT_EQ(part.find("env"), nullptr);
  EXPECT_EQ(part.find_path("hub.eos_token"), nullptr);
  restore(without, part);
  EXPECT_EQ(text(without), text(config));
}

TEST(NodeRedaction, ATreeWithoutSecretsHasNoSuchPart) {
  const Node config = tree(R"({"a": {"b": [1, "x"]}, "tokens": 5})");
  EXPECT_EQ(redacted(config, Redactor()), config);
  EXPECT_TRUE(redacted_part(config, redacted(config, Redactor())).is_null());
}

}  // namespace
}  // namespace profline
