#include "records/request.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

Request a_request() {
  Request request;
  request.id = 3;
  request.source = RequestSource::Nvtx;
  request.start_ns = 812345678;
  request.ns = 41200000;
  request.ttft_ns = 20100000;
  request.prompt_tokens = 512;
  request.new_tokens = 3;
  request.batch = 1;
  request.phases = {{"prefill", 0, 20100000, {}},
                    {"decode", 20100000, 20900000, std::vector<std::int64_t>{2080000, 2091000}}};
  request.attributes = {{"image", Node::string("a \"b\".png")}};
  return request;
}

TEST(RequestLine, HasTheFieldsOfTheFormatInItsOrder) {
  EXPECT_EQ(to_json_line(a_request()),
            R"({"id":3,"source":"nvtx","start_ns":812345678,"ns":41200000,"ttft_ns":20100000,)"
            R"("prompt_tokens":512,"new_tokens":3,"batch":1,)"
            R"("phases":[{"path":"prefill","start_ns":0,"ns":20100000},)"
            R"({"path":"decode","start_ns":20100000,"ns":20900000,"steps_ns":[2080000,2091000]}],)"
            R"("attributes":{"image":"a \"b\".png"}})");
}

TEST(RequestLine, LeavesOutWhatIsNotKnown) {
  Request request;
  request.ns = 5;
  request.phases = {{"decode", {}, 5, std::vector<std::int64_t>{}}};
  EXPECT_EQ(to_json_line(request),
            R"({"id":0,"source":"builtin","ns":5,)"
            R"("phases":[{"path":"decode","ns":5,"steps_ns":[]}],"attributes":{}})");
}

TEST(ParseRequests, ReadsBackWhatWasWritten) {
  Request other;
  other.id = 4;
  other.ns = 1;
  const std::string text = to_json_line(a_request()) + "\n" + to_json_line(other) + "\n";
  const auto requests = parse_requests(text, "requests.jsonl");
  ASSERT_TRUE(requests) << requests.error().to_string();
  EXPECT_EQ(*requests, (std::vector{a_request(), other}));
}

TEST(ParseRequests, NamesTheLineThatIsWrong) {
  const std::string good = to_json_line(a_request()) + "\n";
  const auto failure = [&](const std::string& text) {
    const auto requests = parse_requests(text, "r.jsonl");
    return requests ? "no error" : requests.error().to_string();
  };
  EXPECT_EQ(failure("[]\n"), "r.jsonl:1: line 1, column 1: must be a map, not a list");
  EXPECT_EQ(failure(good + R"({"id":1,"source":"builtin","ns":-1,"phases":[]})"),
            "r.jsonl:2: line 1, column 33: ns: must be an integer >= 0, not -1");
  EXPECT_EQ(failure(good + R"({"id":1,"source":"me","ns":1,"phases":[]})"),
            "r.jsonl:2: line 1, column 18: source: must be one of builtin, nvtx, python, client, "
            "not 'me'");
  EXPECT_EQ(failure(R"({"id":1,"source":"nvtx","ns":1})"),
            "r.jsonl:1: line 1, column 1: missing key 'phases' (a list of map)");
  EXPECT_EQ(failure(good + "{\"id\":").substr(0, 11), "r.jsonl:2: ");
}

TEST(Request, FindsPhasesAndAttributes) {
  Request request = a_request();
  request.attributes.emplace("epoch", Node::integer(2));
  EXPECT_EQ(request.find_phase("decode")->ns, 20900000);
  EXPECT_EQ(request.find_phase("vision"), nullptr);
  EXPECT_EQ(request.text("image"), "a \"b\".png");
  EXPECT_EQ(request.text("epoch"), "");
  EXPECT_EQ(request.integer("epoch"), 2);
  EXPECT_EQ(request.integer("image"), std::nullopt);
  EXPECT_EQ(last_name("prefill/attention"), "attention");
  EXPECT_EQ(last_name("decode"), "decode");
}

std::vector<Request> must_parse(const std::string& text) {
  auto requests = parse_requests(text, "samples.jsonl");
  EXPECT_TRUE(requests) << requests.error().to_string();
  return requests ? std::move(*requests) : std::vector<Request>();
}

TEST(SampleLine, IsARequest) {
  const auto requests =
      must_parse(R"({"image":"a.png","epoch":1,"index":2,"prompt_tokens":283,"new_tokens":3,)"
                 R"("finish":"eos","preprocess_ns":5,"prefill_ns":100,"sam_ns":40,"clip_ns":null,)"
                 R"("projector_ns":1,"lm_ns":30,"decode_ns":22,"token_ns":[10,11],)"
                 R"("dtype":"fp32","threads":2,"engine":"eager"})"
                 "\n");
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(
      to_json_line(requests.front()),
      R"({"id":0,"source":"builtin","ns":127,"ttft_ns":105,"prompt_tokens":283,"new_tokens":3,)"
      R"("phases":[{"path":"preprocess","start_ns":0,"ns":5,"host":true},)"
      R"({"path":"prefill","start_ns":5,"ns":100},{"path":"prefill/sam","ns":40},)"
      R"({"path":"prefill/projector","ns":1},{"path":"prefill/lm","ns":30},)"
      R"({"path":"decode","start_ns":105,"ns":22,"steps_ns":[10,11]}],)"
      R"("attributes":{"dtype":"fp32","engine":"eager","epoch":1,"finish":"eos",)"
      R"("image":"a.png","index":2,"threads":2}})");
}

TEST(SampleLine, OfAModelThatGeneratesNothingHasNoDecode) {
  const auto requests = must_parse(
      R"({"image":"random","epoch":0,"index":0,"prompt_tokens":0,"new_tokens":0,)"
      R"("finish":"none","preprocess_ns":5,"prefill_ns":100,"sam_ns":null,"clip_ns":null,)"
      R"("projector_ns":null,"lm_ns":null,"decode_ns":null,"token_ns":[],)"
      R"("dtype":"fp32","threads":2,"engine":"eager"})"
      "\n");
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests.front().ns, 105);
  EXPECT_EQ(requests.front().ttft_ns, std::nullopt);
  EXPECT_EQ(requests.front().phases.size(), 2U);
  EXPECT_EQ(requests.front().text("finish"), "");
}

TEST(SampleLine, NamesWhatIsWrong) {
  const auto requests = parse_requests("{\"image\":\"a\",\"prefill_ns\":true}\n", "samples.jsonl");
  ASSERT_FALSE(requests);
  EXPECT_NE(requests.error().to_string().find("samples.jsonl:1: line 1, column 27: prefill_ns: "
                                              "must be an integer, not the boolean true"),
            std::string::npos)
      << requests.error().to_string();
}

/// As version 0.1 measured it on an H200.
TEST(SampleLine, OfARecordedRunKeepsEveryTime) {
  const auto text = read_file(testing::source_dir() / "docs/examples/h200/baseline/samples.jsonl");
  ASSERT_TRUE(text) << text.error().to_string();
  const auto requests = must_parse(*text);
  ASSERT_FALSE(requests.empty());
  const Request& first = requests.front();
  EXPECT_EQ(first.ns, 7817189 + 20433183 + 355694427);
  EXPECT_EQ(first.find_phase("prefill/lm")->ns, 8284799);
  EXPECT_EQ(first.find_phase("decode")->steps_ns->size(), 63U);
  EXPECT_EQ(first.find_phase("decode")->steps_ns->front(), 5972767);
  EXPECT_EQ(first.text("engine"), "eager");
  EXPECT_EQ(requests.back().id, requests.size() - 1);
}

TEST(Request, HasTheImagesOfABatch) {
  Request request;
  EXPECT_TRUE(request.images().empty());
  request.attributes["image"] = Node::string("a");
  EXPECT_EQ(request.images(), std::vector<std::string>{"a"});
  request.attributes.clear();
  request.attributes["images"] = Node::list({Node::string("a"), Node::string("b")});
  request.attributes["new_tokens_each"] = Node::list({Node::integer(3), Node::integer(0)});
  EXPECT_EQ(request.images(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.counts("new_tokens_each"), (std::vector<std::uint64_t>{3, 0}));
  request.attributes["images"] = Node::list({Node::string("a"), Node::integer(1)});
  request.attributes["new_tokens_each"] = Node::list({Node::integer(3), Node::integer(-1)});
  EXPECT_TRUE(request.images().empty()) << "attributes are free: this one is something else";
  EXPECT_TRUE(request.counts("new_tokens_each").empty());
  EXPECT_TRUE(request.counts("absent").empty());
}

}  // namespace
}  // namespace profline
