#include "session/machine_ceilings.h"
#include "session/run_preparation.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

using Kind = settings::Device::Kind;

const Result<gpu::Driver> kNoDriver = Error(ErrorKind::NotFound, "there is no driver");

Result<gpu::Driver> two_gpus() {
  return gpu::Driver{
      13, 0, {{0, "NVIDIA H200", "GPU-1", 9, 0, 1}, {1, "NVIDIA L4", "GPU-2", 8, 9, 1}}};
}

settings::Device device(const std::string& text) {
  return settings::parse_device(text).value();
}

TEST(DecideDevice, AutoIsTheFirstGpuElseTheCpu) {
  EXPECT_EQ(decide_device(device("auto"), two_gpus()).value(), device("cuda:0"));
  EXPECT_EQ(decide_device(device("auto"), kNoDriver).value(), device("cpu"));
  EXPECT_EQ(decide_device(device("cpu"), two_gpus()).value(), device("cpu"));
  EXPECT_EQ(decide_device(device("cuda"), two_gpus()).value(), device("cuda:0"));
  EXPECT_EQ(decide_device(device("cuda:1"), two_gpus()).value(), device("cuda:1"));
}

TEST(DecideDevice, OneThatIsNotHereIsAbsent) {
  const auto none = decide_device(device("cuda"), kNoDriver);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(none.error().message(), "device cuda: there is no driver; device=cpu needs no GPU");
  const auto third = decide_device(device("cuda:2"), two_gpus());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().message(), "device cuda:2: there are 2 CUDA devices here");
}

TEST(DeviceName, IsTheDriversOfTheOneAskedFor) {
  EXPECT_EQ(device_name(device("cuda:1"), two_gpus()), "NVIDIA L4");
  EXPECT_EQ(device_name(device("auto"), two_gpus()), "NVIDIA H200");
  EXPECT_EQ(device_name(device("cuda:7"), two_gpus()), "");
  EXPECT_EQ(device_name(device("cpu"), two_gpus()), "");
  EXPECT_EQ(device_name(device("cuda"), kNoDriver), "");
}

class HardwareTest : public SessionTest {
 protected:
  config::SearchPath search_path() const {
    return config_search_path(choice({}, "hardware/devices"), folder_.path()).value();
  }
};

TEST_F(HardwareTest, PeopleNeedNotTypeTheWholeName) {
  const settings::Hardware shipped = load_hardware(search_path()).value();
  const settings::DeviceLimits* h200 = shipped.find("NVIDIA H200");
  ASSERT_NE(h200, nullptr);
  for (const char* name : {"NVIDIA H200", "nvidia h200", "H200", "h200"}) {
    EXPECT_EQ(find_device(shipped, name), h200) << name;
  }
  EXPECT_EQ(find_device(shipped, "H2"), nullptr);
}

TEST_F(HardwareTest, ANameOfTwoDevicesIsNone) {
  settings::Hardware hardware;
  hardware.devices.resize(2);
  hardware.devices[0].names = {"NVIDIA X"};
  hardware.devices[1].names = {"x"};
  EXPECT_EQ(find_device(hardware, "X"), nullptr);
  EXPECT_EQ(find_device(hardware, "x"), &hardware.devices[1]);
}

TEST_F(HardwareTest, ATableOfOnesOwnReplacesTheShippedOne) {
  EXPECT_EQ(ceilings_for(search_path(), {"h200", "", 0}).value().used.device, "NVIDIA H200");
  write("conf/hardware/devices.yaml",
        "devices:\n"
        "  - {names: [Mine], memory_gb: 1, bandwidth_gb_per_s: 100, tensor_tflops: {bf16: 2},"
        " vector_tflops: {fp32: 1}, source: me}\n");
  EXPECT_EQ(ceilings_for(search_path(), {"mine", "", 0}).value().used.device, "Mine");
  EXPECT_EQ(ceilings_for(search_path(), {"h200", "", 0}).value().used.device, "");
}

}  // namespace
}  // namespace profline::session
