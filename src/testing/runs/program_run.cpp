#include "testing/runs/program_run.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace profline::testing {

ProgramRun::ProgramRun() {
  run.run = h200_run().run;
  run.nsys_ranges = h200_run().nsys_ranges;
  NsysCapture& all = capture();
  all.name = "run";
  all.range = "";
  all.wall_ns = 10'000'000;
  for (const RangeUse& range : run.nsys_ranges->ranges) {
    if (range.name == "decode") all.devices = {range.devices.front()};
  }
  all.devices.front().busy_ns = 9'000'000;
  run.nsys_ranges->ranges.clear();
  CommandRecord command;
  command.name = "capture";
  command.wall_ns = 3'000'000'000;
  run.stage("nsys").commands = {command};
}

void ProgramRun::add_range(const char* name, std::int64_t wall_ns) {
  RangeUse range;
  range.name = name;
  range.capture = capture().name;
  range.instances = 1;
  range.wall_ns = wall_ns;
  range.launch.launches = 1;
  range.launch.gaps = 1;
  range.launch.gap_sum_ns = 400'000;  // long: the host does work of its own
  DeviceAccount account = capture().devices.front();
  account.busy_ns = wall_ns / 10;
  account.idle = {};
  account.idle.host_between_ns = wall_ns - account.busy_ns;
  range.devices = {account};
  run.nsys_ranges->ranges.push_back(range);
}

void ProgramRun::write(const std::filesystem::path& folder) const {
  run.write(folder);
  ASSERT_TRUE(create_folders(folder / "baseline"));
  ASSERT_TRUE(write_file_atomic(folder / "baseline/process.json",
                                R"({"schema": "profline.process/1", "runs": 1, "end": ")" + end +
                                    R"(", "no_adapter": ")" + no_adapter + R"(",
          "wall_ns": 2000000000, "cpu_user_ns": 5, "cpu_system_ns": 6, "max_rss_bytes": 4096,
          "processes": [{}, {}]})"));
}

}  // namespace profline::testing
