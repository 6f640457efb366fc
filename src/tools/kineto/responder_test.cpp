#include "tools/kineto/responder.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/kineto/kineto_client.h"
#include "testing/temp_dir.h"
#include "tools/kineto/environment.h"

namespace profline::kineto {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A responder in a folder of its own; tests' own folders may have paths that are too long.
class KinetoResponder : public ::testing::Test {
 protected:
  std::unique_ptr<Responder> open(MayTrace may_trace = [](const Client&) { return true; }) {
    TraceRequest request{.file = "/r/kineto.json"};
    auto made = Responder::open(folder, std::move(request), std::move(may_trace));
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? std::move(*made) : nullptr;
  }

  testing::TempDir unique;
  fs::path folder = socket_folder(unique.path());
};

TEST_F(KinetoResponder, RegistersAProcessAndAsksItOnce) {
  const auto responder = open();
  testing::KinetoClient client(folder, 4711);
  EXPECT_EQ(client.enroll(), 1);
  EXPECT_THAT(client.poll().value(), StartsWith("ACTIVITIES_LOG_FILE=/r/kineto.json\n"));
  EXPECT_EQ(client.poll(), "") << "it was asked already";
  EXPECT_FALSE(client.would_terminate());

  const Traffic traffic = responder->traffic();
  ASSERT_EQ(traffic.clients.size(), 1U);
  EXPECT_EQ(traffic.clients[0].pid, 4711);
  EXPECT_EQ(traffic.clients[0].kernel_pid, getpid());
  EXPECT_TRUE(traffic.clients[0].registered);
  EXPECT_EQ(traffic.clients[0].polls, 2U);
  EXPECT_TRUE(traffic.clients[0].asked);
  EXPECT_EQ(traffic.garbage, 0U);
}

TEST_F(KinetoResponder, AsksEveryProcess) {
  const auto responder = open();
  testing::KinetoClient main(folder, 10);
  testing::KinetoClient worker(folder, 11);
  EXPECT_NE(main.poll(), "");
  EXPECT_NE(worker.poll(), "");
  EXPECT_EQ(responder->traffic().clients.size(), 2U);
}

TEST_F(KinetoResponder, WaitsUntilAProcessMayBeTraced) {
  std::atomic<bool> now = false;
  const auto responder = open([&](const Client& client) { return now && client.pid == 10; });
  testing::KinetoClient main(folder, 10);
  testing::KinetoClient worker(folder, 11);
  EXPECT_EQ(main.poll(), "");
  now = true;
  EXPECT_EQ(worker.poll(), "");
  EXPECT_NE(main.poll(), "");
  EXPECT_FALSE(responder->traffic().find(11)->asked);
}

TEST_F(KinetoResponder, AsksNoProcessThatIsRecording) {
  const auto responder = open();
  testing::KinetoClient client(folder, 10);
  EXPECT_EQ(client.poll(1), "");
  EXPECT_NE(client.poll(2), "");
}

TEST_F(KinetoResponder, SurvivesGarbage) {
  const auto responder = open();
  testing::KinetoClient client(folder, 10);
  std::mt19937 random(7);
  std::uint64_t sent = 0;
  for (std::size_t size = 1; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (client.send(bytes)) ++sent;
  }
  if (client.send(std::string(100'000, 'x'))) ++sent;  // longer than what is received
  EXPECT_EQ(client.enroll(), 1);
  EXPECT_EQ(responder->traffic().garbage, sent);
}

TEST_F(KinetoResponder, DoesNotAnswerAProcessThatSeesTheFolderElsewhere) {
  const auto responder = open();
  const fs::path link = folder.string() + "-x";  // as a container may mount it
  fs::create_directory_symlink(folder, link);
  testing::KinetoClient elsewhere(link, 10);
  EXPECT_TRUE(elsewhere.send(std::string(40, '\0')));
  testing::KinetoClient client(folder, 11);
  std::string poll(60, '\0');
  poll[0] = 20;
  poll.replace(8, 3, "req");
  poll[40] = 2;
  poll[44] = 1;
  poll[56] = 10;
  EXPECT_TRUE(elsewhere.send(poll));
  EXPECT_EQ(client.enroll(), 1);
  const Traffic traffic = responder->traffic();
  EXPECT_EQ(traffic.find(10), nullptr);
  ASSERT_EQ(traffic.elsewhere.size(), 1U);
  EXPECT_THAT(traffic.elsewhere[0], StartsWith(link.string() + "/"));
  fs::remove(link);
}

TEST_F(KinetoResponder, AsksAgainWhenAProcessWasGoneBeforeItsAnswer) {
  const auto responder = open();
  {
    testing::KinetoClient gone(folder, 10);
    const auto name = fs::directory_iterator(folder);
    for (const auto& entry : name) {
      if (entry.path().filename() != kSocketName) fs::remove(entry.path());
    }
    std::string poll(60, '\0');
    poll[0] = 20;
    poll.replace(8, 3, "req");
    poll[40] = 2;
    poll[44] = 1;
    poll[56] = 10;
    EXPECT_TRUE(gone.send(poll));
    testing::KinetoClient other(folder, 11);
    EXPECT_EQ(other.enroll(), 1) << "messages are handled in order";
  }
  EXPECT_FALSE(responder->traffic().find(10)->asked);
}

TEST_F(KinetoResponder, KeepsItsFolderPrivateAndRemovesIt) {
  {
    const auto responder = open();
    struct stat status {};
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
    const testing::KinetoClient client(folder, 10);
    EXPECT_TRUE(fs::exists(folder / kSocketName));
  }
  EXPECT_FALSE(fs::exists(folder)) << "with the sockets that processes left in it";
}

TEST_F(KinetoResponder, TakesOverAFolderThatACrashLeft) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::all);
  { const testing::KinetoClient left(folder, 9); }
  const auto responder = open();
  ASSERT_TRUE(responder);
  testing::KinetoClient client(folder, 10);
  EXPECT_EQ(client.enroll(), 1);
}

TEST_F(KinetoResponder, RefusesWhatIsNotItsFolder) {
  std::ofstream(folder) << "x";
  const auto made = Responder::open(folder, {}, [](const Client&) { return true; });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().to_string(), folder.string() + " exists and is not a folder of this user");
  EXPECT_TRUE(fs::exists(folder)) << "it is somebody else's";
  fs::remove(folder);
}

TEST_F(KinetoResponder, LeavesAFolderOfOthersAsItWas) {
  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  std::ofstream(folder / "other") << "kept";
  testing::KinetoClient client(folder, 4711);  // it was there first
  {
    auto shared = SocketFolder::share(folder);
    ASSERT_TRUE(shared) << shared.error().to_string();
    const auto responder = Responder::open(std::move(*shared), {.file = "/r/kineto.json"},
                                           [](const Client&) { return true; });
    ASSERT_TRUE(responder) << responder.error().to_string();
    EXPECT_THAT(client.poll().value(), StartsWith("ACTIVITIES_LOG_FILE=/r/kineto.json\n"));
    const auto second = SocketFolder::share(folder);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message(), "another daemon uses " + (folder / kSocketName).string());
  }
  struct stat status {};
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0755U);
  EXPECT_TRUE(fs::exists(folder / "other"));
  EXPECT_FALSE(fs::exists(folder / kSocketName));
  const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  EXPECT_EQ(files, 2) << "the client's socket and the other file";
  fs::remove_all(folder);
}

TEST_F(KinetoResponder, TakesThePlaceOfADaemonThatHasEnded) {
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  {
    const FileDescriptor ended(socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder / kSocketName).native().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(ended.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(fs::exists(folder / kSocketName));
  EXPECT_TRUE(SocketFolder::share(folder));
  EXPECT_FALSE(fs::exists(folder / kSocketName));
  fs::remove_all(folder);
}

TEST_F(KinetoResponder, RefusesAFolderWhosePathIsTooLong) {
  const fs::path path = "/tmp/" + std::string(60, 'x');
  const auto made = Responder::open(path, {}, [](const Client&) { return true; });
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().to_string(), HasSubstr("longer than the 54 bytes"));
}

TEST_F(KinetoResponder, IsReachedFromAProcessInItsFolder) {
  const auto reached = check_reach(folder, unique.path());
  EXPECT_TRUE(reached) << reached.error().to_string();
  EXPECT_FALSE(fs::exists(folder));
  const auto nowhere = check_reach(folder, unique / "absent");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().to_string(), "a process that uses the sockets in " + folder.string() +
                                             " cannot enter the program's working directory");
  const auto no_folder = check_reach("/proc/profline", unique.path());
  ASSERT_FALSE(no_folder);
  EXPECT_THAT(no_folder.error().to_string(), StartsWith("cannot create /proc/profline: "));
}

}  // namespace
}  // namespace profline::kineto
