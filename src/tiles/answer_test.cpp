#include "tiles/answer.h"

#include <string>

#include <gtest/gtest.h>

#include "formats/json.h"
#include "testing/temp_dir.h"
#include "tiles/build.h"
#include "tiles/testing_captures.h"

namespace profline::tiles {
namespace {

class TilesAnswer : public ::testing::Test {
 protected:
  Index open(const std::vector<MadeEvent>& events) {
    write_capture(folder_ / "x.sqlite", events);
    auto built = build_index(folder_ / "x.sqlite", folder_ / "x.tiles", "this");
    EXPECT_TRUE(built);
    return Index::open(folder_ / "x.tiles", "this").value();
  }

  testing::TempDir folder_;
};

std::string text_of(const Result<std::string>& answer) {
  return answer ? *answer : answer.error().to_string();
}

const std::vector<MadeEvent>& few_events() {
  static const std::vector<MadeEvent> kEvents = {
      {MadeEvent::Table::Kernel, 1000, 1400, 7, 1}, {MadeEvent::Table::Kernel, 1500, 1600, 7, 2},
      {MadeEvent::Table::Kernel, 1700, 2000, 7, 1}, {MadeEvent::Table::Copy, 1450, 1480, 7, 3},
      {MadeEvent::Table::Range, 900, 2100, 11, 4},  {MadeEvent::Table::Range, 950, 1650, 11, 5},
  };
  return kEvents;
}

TEST_F(TilesAnswer, DescribesTheCapture) {
  const Index index = open(few_events());
  EXPECT_EQ(
      text_of(answer(index, "what=capture")),
      R"({"schema":"profline.tiles/1","source":"x.sqlite","tool":"nsys 2025.3.2.0","origin_ns":"900",)"
      R"("unix_origin_ns":"1794726136956808134","length_ns":1200,"events":6,"lanes":[)"
      R"({"lane":0,"kind":"work","group":"GPU 0 NVIDIA H200","name":"stream 7","rows":1,"events":3,"busy_ns":800},)"
      R"({"lane":1,"kind":"copies","group":"GPU 0 NVIDIA H200","name":"stream 7 copies","rows":1,"events":1,"busy_ns":30},)"
      R"({"lane":2,"kind":"ranges","group":"thread 11","name":"ranges","rows":2,"events":2,"busy_ns":1200}],)"
      R"("notes":[],"losses":[]})");
}

TEST_F(TilesAnswer, GivesEventsOrBinsOfAWindow) {
  const Index index = open(few_events());
  EXPECT_EQ(text_of(answer(index, "what=window&from=0&to=700&pixels=100&lanes=0,2")),
            R"({"schema":"profline.tiles/1","from_ns":0,"to_ns":700,"rows":[)"
            R"({"lane":0,"depth":0,"row":0,"touching":2,"events":[0,100,400,3,1,600,100,4]},)"
            R"({"lane":2,"depth":0,"row":2,"touching":1,"events":[0,0,1200,19]},)"
            R"({"lane":2,"depth":1,"row":3,"touching":1,"events":[0,50,700,20]}],)"
            R"("names":{"3":"name 1","4":"name 2","19":"name 4","20":"name 5"}})");
  EXPECT_EQ(text_of(answer(index, "what=window&from=5000&to=7000&pixels=100&lanes=1")),
            R"({"schema":"profline.tiles/1","from_ns":5000,"to_ns":7000,"rows":[)"
            R"({"lane":1,"depth":0,"row":1,"touching":0,"events":[]}],"names":{}})");
  EXPECT_EQ(text_of(answer(index, "what=window&from=0&to=1&pixels=9&lanes=3")),
            "there is no lane 3: the capture has 3");
}

TEST_F(TilesAnswer, GivesBinsWhereThereAreManyEvents) {
  std::vector<MadeEvent> events;
  for (int at = 0; at < 100; ++at) {
    events.push_back({MadeEvent::Table::Kernel, at * 1024, at * 1024 + 512, 7, 1 + at % 2});
  }
  const Index index = open(events);
  EXPECT_EQ(text_of(answer(index, "what=window&from=0&to=102400&pixels=4")),
            R"({"schema":"profline.tiles/1","from_ns":0,"to_ns":102400,"rows":[)"
            R"({"lane":0,"depth":0,"row":0,"touching":100,"level":14,"bins":[)"
            R"(0,8192,16,3,4096,1,8192,16,3,4096,2,8192,16,3,4096,3,8192,16,3,4096,)"
            R"(4,8192,16,3,4096,5,8192,16,3,4096,6,2048,4,3,1024]}],"names":{"3":"name 1"}})");
  const auto tile = answer(index, "what=tile&lane=0&level=4&index=0");
  ASSERT_TRUE(tile) << tile.error().to_string();
  const auto tree = parse_json(*tile, "tile");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->find_path("to_ns")->as_int(), 16384);
  EXPECT_EQ(tree->find_path("rows.0.touching")->as_int(), 16);
}

TEST_F(TilesAnswer, AddsUpWhatIsInAWindow) {
  const Index index = open(few_events());
  EXPECT_EQ(
      text_of(answer(index, "what=totals&from=0&to=650&lanes=0,1&limit=1")),
      R"({"schema":"profline.tiles/1","from_ns":0,"to_ns":650,"kinds":[)"
      R"({"kind":"work","events":2,"busy_ns":450,"different_names":2,"names":[{"name":3,"text":"name 1","events":1,"busy_ns":400}]},)"
      R"({"kind":"copies","events":1,"busy_ns":30,"different_names":1,"names":[{"name":7,"text":"[CUDA memcpy Device-to-Host]","events":1,"busy_ns":30}]}]})");
}

TEST_F(TilesAnswer, FindsTheNextAndThePreviousOfAName) {
  const Index index = open(few_events());
  const auto start = [&](const std::string& query) {
    const auto found = answer(index, query);
    EXPECT_TRUE(found) << found.error().to_string();
    const auto tree = parse_json(*found, "answer");
    const Node* event = tree->find("event");
    return event->is_null() ? -1 : event->find("start_ns")->as_int();
  };
  EXPECT_EQ(start("what=find&text=NAME+1"), 100);
  EXPECT_EQ(start("what=find&name=3&at=100"), 800);
  EXPECT_EQ(start("what=find&name=3&at=800"), -1);
  EXPECT_EQ(start("what=find&text=name+1&at=800&direction=previous"), 100);
  EXPECT_EQ(start("what=find&text=nothing"), -1);
  EXPECT_EQ(
      text_of(answer(index, "what=find&text=name+1&from=0&to=200&at=100")),
      R"({"schema":"profline.tiles/1","different_names":1,"events":1,"busy_ns":100,"event":)"
      R"({"id":"0.2","lane":0,"depth":0,"group":"GPU 0 NVIDIA H200","lane_name":"stream 7",)"
      R"("name":3,"text":"name 1","start_ns":800,"duration_ns":300,"kind":"kernel","grid":[1,1,1],)"
      R"("block":[64,1,1],"registers_per_thread":32,"static_shared_bytes":0,"dynamic_shared_bytes":0}})");
}

TEST_F(TilesAnswer, DescribesAnEvent) {
  const Index index = open(few_events());
  EXPECT_EQ(
      text_of(answer(index, "what=event&id=1.0")),
      R"({"schema":"profline.tiles/1","event":{"id":"1.0","lane":1,"depth":0,"group":"GPU 0 NVIDIA H200",)"
      R"("lane_name":"stream 7 copies","name":7,"text":"[CUDA memcpy Device-to-Host]","start_ns":550,)"
      R"("duration_ns":30,"kind":"copy","bytes":3,"to":"unknown","from":"unknown"}})");
  EXPECT_EQ(text_of(answer(index, "what=event&id=0.3")), "there is no event 0.3");
  EXPECT_EQ(text_of(answer(index, "what=event&id=9.0")), "there is no event 9.0");
}

TEST_F(TilesAnswer, IsJsonWhateverTheNamesAre) {
  const Index plain = open({{MadeEvent::Table::Kernel, 0, 10, 7, 1}});
  {
    auto database = sqlite::Database::open_read_write(folder_ / "x.sqlite", sqlite::Create::No);
    ASSERT_TRUE(database);
    ASSERT_TRUE(
        database->execute("UPDATE StringIds SET value = '</script>\"\\' || char(10) || "
                          "CAST(x'ff' AS TEXT) || printf('%0300d', 1) WHERE id = 1"));
  }
  ASSERT_TRUE(build_index(folder_ / "x.sqlite", folder_ / "x.tiles", "this"));
  const auto index = Index::open(folder_ / "x.tiles", "this");
  ASSERT_TRUE(index);
  for (const char* query : {"what=capture", "what=window&from=0&to=9&pixels=9", "what=totals",
                            "what=event&id=0.0", "what=find&text=script"}) {
    const auto text = answer(*index, query);
    ASSERT_TRUE(text) << text.error().to_string();
    EXPECT_TRUE(parse_json(*text, query)) << *text;
  }
}

}  // namespace
}  // namespace profline::tiles
