#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using testing::in_child;
using testing::TempDir;

void put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The message without the test's own folder, so that it can be compared whole.
std::string message_without(const Error& error, const fs::path& folder) {
  std::string text = error.to_string();
  const std::string cut = folder.string() + "/";
  for (std::size_t at = 0; (at = text.find(cut)) != std::string::npos;) text.erase(at, cut.size());
  return text;
}

TEST(ReadFile, GivesAllBytes) {
  const TempDir dir;
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 1000000U}) {
    SCOPED_TRACE(size);
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 256);
    put(dir / "file", bytes);
    const Result<std::string> read = read_file(dir / "file");
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_TRUE(*read == bytes);
  }
}

TEST(ReadFile, ReadsWhatHasNoSize) {
  const Result<std::string> status = read_file("/proc/self/status");
  ASSERT_TRUE(status) << status.error().to_string();
  EXPECT_EQ(status->substr(0, 5), "Name:");

  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const std::string bytes(10000, 'x');
  ASSERT_EQ(write_all(writing.get(), bytes), 0);
  writing.reset();
  const Result<std::string> piped = read_file("/proc/self/fd/" + std::to_string(reading.get()));
  ASSERT_TRUE(piped) << piped.error().to_string();
  EXPECT_EQ(*piped, bytes);
}

TEST(ReadFile, SaysWhyItCannot) {
  const TempDir dir;
  put(dir / "plain", "x");
  fs::create_symlink("loop", dir / "loop");
  struct Case {
    fs::path path;
    std::string_view message;
  };
  const Case cases[] = {
      {dir / "none.yaml", "cannot read none.yaml: no such file"},
      {dir / "plain/deeper", "cannot read plain/deeper: a part of the path is not a directory"},
      {dir / ".", "cannot read .: it is a directory"},
      {dir / "loop", "cannot read loop: too many symbolic links"},
      {"", "cannot read '': the name is empty"},
      {dir / std::string("a\0b", 3), "cannot read a\\x00b: the name contains a NUL byte"},
      {dir / "a\nb", "cannot read a\\nb: no such file"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    const Result<std::string> read = read_file(c.path);
    ASSERT_FALSE(read);
    EXPECT_EQ(message_without(read.error(), dir.path()), c.message);
    EXPECT_EQ(read.error().kind(), ErrorKind::NotFound);
  }
  const std::string long_name(256, 'n');
  EXPECT_EQ(message_without(read_file(dir / long_name).error(), dir.path()),
            "cannot read " + long_name + ": the name is too long");
}

TEST(ReadFile, SaysThatItMayNot) {
  const TempDir dir;
  put(dir / "secret", "x");
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((dir / "secret").c_str(), ::geteuid() == 0 ? 0600 : 0), 0);
  EXPECT_EQ(in_child([&] {
              // Root may read everything, so the child becomes nobody.
              if (::geteuid() == 0 && ::seteuid(65534) != 0) return std::string("seteuid failed");
              const Result<std::string> read = read_file(dir / "secret");
              if (read) return std::string("it was read");
              const bool absent = read.error().kind() == ErrorKind::NotFound;
              return message_without(read.error(), dir.path()) + (absent ? "" : ", wrong kind");
            }),
            "cannot read secret: permission denied");
}

TEST(ReadFile, AFailureOfTheDeviceIsNotAnAbsence) {
  // The memory of a process has nothing at address 0: the read itself fails.
  const Result<std::string> read = read_file("/proc/self/mem");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().to_string(), "cannot read /proc/self/mem: input/output error");
  EXPECT_EQ(read.error().kind(), ErrorKind::Io);
}

TEST(OpenForReading, IsNotInheritedByProgramsWeStart) {
  const Result<FileDescriptor> file = open_for_reading("/proc/self/status");
  ASSERT_TRUE(file);
  EXPECT_NE(::fcntl(file->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(FileDescriptor, ClosesWhatItOwnsOnceAndGivesItAwayWhole) {
  FileDescriptor first = open_descriptor("/dev/null", O_RDONLY);
  const int number = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_EQ(second.get(), number);
  FileDescriptor third;
  third = std::move(second);
  const int released = third.release();
  EXPECT_EQ(released, number);
  EXPECT_FALSE(third.is_open());
  EXPECT_NE(::fcntl(released, F_GETFD), -1);
  FileDescriptor(released).reset();
  EXPECT_EQ(::fcntl(released, F_GETFD), -1);
}

TEST(CreateFolders, MakesWhatIsMissingAndTakesWhatIsThere) {
  const TempDir dir;
  for (int time = 0; time < 2; ++time) {
    const Result<void> made = create_folders(dir / "a/b/../c/");
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_TRUE(fs::is_directory(dir / "a/c"));
  }
  fs::create_directory_symlink("a", dir / "link");
  EXPECT_TRUE(create_folders(dir / "link/d"));
  EXPECT_TRUE(fs::is_directory(dir / "a/d"));
}

TEST(CreateFolders, NamesThePartThatIsInTheWay) {
  const TempDir dir;
  put(dir / "plain", "x");
  const Result<void> made = create_folders(dir / "plain/a/b");
  ASSERT_FALSE(made);
  EXPECT_EQ(message_without(made.error(), dir.path()),
            "cannot create the folder plain/a/b: plain is not a directory");
  EXPECT_EQ(message_without(create_folders(dir / "plain").error(), dir.path()),
            "cannot create the folder plain: plain is not a directory");
  EXPECT_EQ(create_folders("/proc/profline/a").error().to_string(),
            "cannot create the folder /proc/profline/a: no such file");
}

TEST(FreeBytes, CountsWhereThePathWillBe) {
  const TempDir dir;
  const std::string text = in_child([&] {
    const std::string refused = testing::mount_small_tmpfs(dir.path().string(), 1 << 20);
    if (!refused.empty()) return "skip: " + refused;
    const std::uint64_t before = free_bytes(dir / "not/yet/there").value();
    put(dir / "file", std::string(1 << 19, 'x'));
    const std::uint64_t after = free_bytes(dir.path()).value();
    return std::to_string(before) + " " + std::to_string(after);
  });
  if (text.rfind("skip: ", 0) == 0) GTEST_SKIP() << text;
  EXPECT_EQ(text, "1048576 524288");
}

TEST(FreeBytes, TakesARelativePathThatIsMissing) {
  EXPECT_TRUE(free_bytes("surely-missing/deeper"));
  EXPECT_EQ(
      free_bytes("/dev/null/x").error().to_string(),
      "cannot determine the free space at /dev/null/x: a part of the path is not a directory");
}

}  // namespace
}  // namespace profline
