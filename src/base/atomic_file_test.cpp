#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "testing/fake_clock.h"
#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

// Each in a child process: after the undo, the process can begin no other work.

TEST(UnfinishedWork, IsUndoneYoungestFirstUnlessItWasFinished) {
  EXPECT_EQ(testing::in_child([] {
              std::string undone;
              const UnfinishedWork first([&] { undone += "first "; });
              UnfinishedWork second([&] { undone += "second "; });
              UnfinishedWork moved = std::move(second);
              UnfinishedWork third([&] { undone += "third "; });
              {
                const UnfinishedWork over([&] { undone += "over "; });
              }
              third.finish();
              undo_unfinished_work();
              return undone;
            }),
            "second first ");
}

TEST(UnfinishedWork, MayItselfWriteFiles) {
  const testing::TempDir folder;
  EXPECT_EQ(testing::in_child([&]() -> std::string {
              const UnfinishedWork work([path = folder / "record"] {
                static_cast<void>(write_file_atomic(path, "interrupted"));
              });
              undo_unfinished_work();
              return read_file(folder / "record").value_or("nothing");
            }),
            "interrupted");
}

TEST(UnfinishedWork, AnAtomicFileLeavesNoTemporary) {
  const testing::TempDir folder;
  const std::string left = testing::in_child([&]() -> std::string {
    auto done = AtomicFile::create(folder / "done");
    auto half = AtomicFile::create(folder / "half");
    if (!done || !half || !done->append("whole") || !half->append("ha") || !done->commit()) {
      return "cannot write";
    }
    undo_unfinished_work();
    std::string names;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      names += entry.path().filename().string() + " ";
    }
    return names;
  });
  EXPECT_EQ(left, "done ");
}

using ::testing::ElementsAre;
using testing::in_child;
using ::testing::IsEmpty;
using testing::TempDir;

constexpr const char* kTemporaryPrefix = ".profline-tmp-";
constexpr std::size_t kSmallDisk = std::size_t{256} * 1024;

void put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

mode_t permissions_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

std::string message_without(const Error& error, const fs::path& folder) {
  std::string text = error.to_string();
  const std::string cut = folder.string() + "/";
  for (std::size_t at = 0; (at = text.find(cut)) != std::string::npos;) text.erase(at, cut.size());
  return text;
}

TEST(AtomicFile, ShowsNothingUntilCommitted) {
  const TempDir dir;
  put(dir / "run.json", "old");
  Result<AtomicFile> file = AtomicFile::create(dir / "run.json");
  ASSERT_TRUE(file) << file.error().to_string();
  ASSERT_TRUE(file->append("ne"));
  ASSERT_TRUE(file->append(std::string(100000, 'e')));
  ASSERT_TRUE(file->append("w"));
  EXPECT_EQ(read_file(dir / "run.json").value(), "old");
  EXPECT_EQ(names_in(dir.path()).size(), 2U);

  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(dir / "run.json").value(), "ne" + std::string(100000, 'e') + "w");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("run.json"));
}

TEST(AtomicFile, LeavesNothingWhenGivenUp) {
  const TempDir dir;
  {
    Result<AtomicFile> file = AtomicFile::create(dir / "run.json");
    ASSERT_TRUE(file);
    AtomicFile moved = std::move(*file);
    ASSERT_TRUE(moved.append(std::string(100000, 'x')));
    EXPECT_EQ(names_in(dir.path()).size(), 1U);
  }
  EXPECT_THAT(names_in(dir.path()), IsEmpty());
}

TEST(AtomicFile, TheTemporaryIsHiddenAndNotInherited) {
  const TempDir dir;
  const Result<AtomicFile> file = AtomicFile::create(dir / "run.json");
  ASSERT_TRUE(file);
  const std::string name = names_in(dir.path()).at(0);
  EXPECT_THAT(name, ::testing::MatchesRegex("\\.profline-tmp-[0-9a-f]{8}-[0-9a-f]{16}"));
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone).filename() != name) continue;
    ++found;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename().string()), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(found, 1);
}

TEST(WriteFileAtomic, KeepsThePermissionsOfWhatItReplaces) {
  const TempDir dir;
  put(dir / "old", "x");
  ASSERT_EQ(::chmod((dir / "old").c_str(), 0666), 0);
  EXPECT_EQ(in_child([&] {
              ::umask(027);
              write_file_atomic(dir / "old", "y").value();
              write_file_atomic(dir / "new", "y").value();
              return std::string();
            }),
            "");
  EXPECT_EQ(permissions_of(dir / "old"), 0666U);
  EXPECT_EQ(permissions_of(dir / "new"), 0640U);
}

TEST(WriteFileAtomic, WritesThroughLinksAndKeepsThem) {
  const TempDir dir;
  ASSERT_TRUE(create_folders(dir / "real"));
  put(dir / "real/file", "old");
  fs::create_symlink("real/file", dir / "inner");
  fs::create_symlink(dir / "inner", dir / "outer");
  fs::create_symlink("real/made", dir / "dangling");
  ASSERT_TRUE(write_file_atomic(dir / "outer", "new"));
  ASSERT_TRUE(write_file_atomic(dir / "dangling", "made"));
  EXPECT_TRUE(fs::is_symlink(dir / "outer"));
  EXPECT_TRUE(fs::is_symlink(dir / "inner"));
  EXPECT_TRUE(fs::is_symlink(dir / "dangling"));
  EXPECT_EQ(read_file(dir / "real/file").value(), "new");
  EXPECT_EQ(read_file(dir / "real/made").value(), "made");
  EXPECT_THAT(names_in(dir / "real"), ElementsAre("file", "made"));
}

TEST(WriteFileAtomic, TakesANameAsLongAsThereCanBe) {
  const TempDir dir;
  const std::string longest(255, 'n');
  const Result<void> written = write_file_atomic(dir / longest, "x");
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_THAT(names_in(dir.path()), ElementsAre(longest));
}

TEST(WriteFileAtomic, SaysWhyItCannotAndLeavesNothing) {
  const TempDir dir;
  put(dir / "plain", "x");
  ASSERT_TRUE(create_folders(dir / "folder"));
  fs::create_symlink("loop", dir / "loop");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const std::vector<std::string> before = names_in(dir.path());
  const std::string too_long(256, 'n');
  struct Case {
    fs::path path;
    std::string message;
  };
  const Case cases[] = {
      {dir / "folder", "cannot write folder: it is a directory"},
      {dir / "folder/", "cannot write folder/: it is a directory"},
      {dir / "folder/..", "cannot write folder/..: it is a directory"},
      {dir / "a/b/run.json", "cannot write a/b/run.json: no such folder a/b"},
      {dir / "plain/run.json", "cannot write plain/run.json: plain is not a directory"},
      {dir / "pipe", "cannot write pipe: it is not a regular file"},
      {"/dev/null", "cannot write /dev/null: it is not a regular file"},
      {dir / "loop", "cannot write loop: too many symbolic links"},
      {dir / too_long, "cannot write " + too_long + ": the name is too long"},
      {"", "cannot write '': the name is empty"},
      {dir / std::string("a\0b", 3), "cannot write a\\x00b: the name contains a NUL byte"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    const Result<void> written = write_file_atomic(c.path, "new");
    ASSERT_FALSE(written);
    EXPECT_EQ(message_without(written.error(), dir.path()), c.message);
    EXPECT_EQ(written.error().kind(), ErrorKind::NotFound);
  }
  EXPECT_EQ(names_in(dir.path()), before);
  EXPECT_THAT(names_in(dir / "folder"), IsEmpty());
}

TEST(WriteFileAtomic, SaysThatItMayNot) {
  const TempDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), ::geteuid() == 0 ? 0755 : 0555), 0);
  EXPECT_EQ(in_child([&] {
              if (::geteuid() == 0 && ::seteuid(65534) != 0) return std::string("seteuid failed");
              const Result<void> written = write_file_atomic(dir / "run.json", "x");
              return written ? std::string("it was written")
                             : message_without(written.error(), dir.path());
            }),
            "cannot write run.json: permission denied");
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
}

/// What is in the folder after a write failed, and how it failed.
std::string outcome(const Result<void>& written, const fs::path& folder) {
  const std::string message =
      written ? std::string("written") : message_without(written.error(), folder);
  const bool kept = read_file(folder / "run.json").value_or("") == "old";
  return message + "; " + join(names_in(folder), ",") + "; " + (kept ? "old kept" : "old lost");
}

TEST(WriteFileAtomic, AFullDiskLeavesTheOldFileAndNothingElse) {
  const TempDir dir;
  const std::string text = in_child([&] {
    const std::string refused = testing::mount_small_tmpfs(dir.path().string(), kSmallDisk);
    if (!refused.empty()) return "skip: " + refused;
    put(dir / "run.json", "old");
    const Result<void> written = write_file_atomic(dir / "run.json", std::string(1 << 20, 'x'));
    return outcome(written, dir.path());
  });
  if (text.rfind("skip: ", 0) == 0) GTEST_SKIP() << text;
  EXPECT_EQ(text, "cannot write run.json: no space left on device; run.json; old kept");
}

TEST(AtomicFile, RepeatsItsFailureAndRemovesTheTemporaryAtOnce) {
  const TempDir dir;
  const std::string text = in_child([&] {
    const std::string refused = testing::mount_small_tmpfs(dir.path().string(), kSmallDisk);
    if (!refused.empty()) return "skip: " + refused;
    put(dir / "run.json", "old");
    AtomicFile file = AtomicFile::create(dir / "run.json").value();
    const Result<void> first = file.append(std::string(1 << 20, 'x'));
    const Result<void> second = file.append("small");
    const std::string left = join(names_in(dir.path()), ",");
    const bool same = !first && !second && first.error().message() == second.error().message();
    return std::string(same ? "same" : "different") + "; " + left + "; " +
           outcome(file.commit(), dir.path());
  });
  if (text.rfind("skip: ", 0) == 0) GTEST_SKIP() << text;
  EXPECT_EQ(text,
            "same; run.json; cannot write run.json: no space left on device; run.json; old kept");
}

TEST(WriteFileAtomic, AReadOnlyFileSystemIsToldAsThat) {
  const TempDir dir;
  const std::string text = in_child([&] {
    std::string refused = testing::mount_small_tmpfs(dir.path().string(), kSmallDisk);
    if (!refused.empty()) return "skip: " + refused;
    put(dir / "run.json", "old");
    refused = testing::remount_read_only(dir.path().string());
    if (!refused.empty()) return "skip: " + refused;
    return outcome(write_file_atomic(dir / "run.json", "new"), dir.path());
  });
  if (text.rfind("skip: ", 0) == 0) GTEST_SKIP() << text;
  EXPECT_EQ(text, "cannot write run.json: read-only file system; run.json; old kept");
}

TEST(StaleTemporaries, OfALivingWriterStay) {
  const TempDir dir;
  const testing::FakeClock clock;
  Result<AtomicFile> file = AtomicFile::create(dir / "run.json");
  ASSERT_TRUE(file);
  EXPECT_THAT(remove_stale_temporaries(dir.path(), clock).value(), IsEmpty());
  ASSERT_TRUE(file->commit());
  EXPECT_THAT(names_in(dir.path()), ElementsAre("run.json"));
}

TEST(StaleTemporaries, FromElsewhereGoAfterADay) {
  const TempDir dir;
  testing::FakeClock clock;
  const fs::path foreign = dir / (std::string(kTemporaryPrefix) + "00000000-0123456789abcdef");
  put(foreign, "x");
  const timespec made{std::chrono::system_clock::to_time_t(clock.wall_now()), 0};
  const timespec both[] = {made, made};
  ASSERT_EQ(::utimensat(AT_FDCWD, foreign.c_str(), both, 0), 0);
  clock.advance(std::chrono::hours(23));
  EXPECT_THAT(remove_stale_temporaries(dir.path(), clock).value(), IsEmpty());
  clock.advance(std::chrono::hours(2));
  EXPECT_THAT(remove_stale_temporaries(dir.path(), clock).value(), ElementsAre(foreign));
  EXPECT_THAT(names_in(dir.path()), IsEmpty());
}

TEST(StaleTemporaries, NothingElseIsTouched) {
  const TempDir dir;
  testing::FakeClock clock;
  clock.advance(std::chrono::hours(24 * 365));
  const std::string prefix = kTemporaryPrefix;
  for (const char* rest : {"", "00000000", "00000000-0123456789abcdeg", "00000000-0123456789abcde",
                           "00000000_0123456789abcdef", "00000000-0123456789abcdef0"}) {
    put(dir / (prefix + rest), "x");
  }
  // A link with a temporary's name, and a pipe, which nobody reads.
  put(dir / "kept", "x");
  fs::create_symlink("kept", dir / (prefix + "00000000-00000000000000aa"));
  ASSERT_EQ(::mkfifo((dir / (prefix + "00000000-00000000000000bb")).c_str(), 0600), 0);
  const std::vector<std::string> before = names_in(dir.path());
  EXPECT_THAT(remove_stale_temporaries(dir.path(), clock).value(), IsEmpty());
  EXPECT_EQ(names_in(dir.path()), before);
  EXPECT_EQ(message_without(remove_stale_temporaries(dir / "none", clock).error(), dir.path()),
            "cannot clean up none: no such file");
}

/// Content that can be verified: its number, filler that depends on it, and the digest of both.
std::string content_of(std::uint64_t number) {
  std::string text = std::to_string(number) + "\n";
  text.append(20000 + number % 7 * 1000, static_cast<char>('a' + number % 26));
  return sha256_hex(text) + "\n" + text;
}

/// The number of a complete content; nothing for any other.
std::optional<std::uint64_t> number_of(std::string_view content) {
  if (content.size() < 66 || sha256_hex(content.substr(65)) != content.substr(0, 64)) return {};
  return std::stoull(std::string(content.substr(65, 20)));
}

/// The number that the file has at least; shared by the test and its writer.
using Committed = std::atomic<std::uint64_t>;

/// Rewrites the file until killed.
[[noreturn]] void write_for_ever(const fs::path& path, Committed& committed) {
  for (std::uint64_t number = committed + 1;; ++number) {
    const std::string content = content_of(number);
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file || !file->append(content) || !file->commit()) ::_exit(1);
    committed = number;
  }
}

/// Busy-waits: after a sleep on a busy machine it would wake far too late.
void spin_for(std::chrono::nanoseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Runs a writer and kills it `delay` after it began. False when it ended in another way.
bool write_until_killed(const fs::path& path, Committed& committed,
                        std::chrono::nanoseconds delay) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  const FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  const pid_t writer = ::fork();
  if (writer < 0) return false;
  if (writer == 0) {
    if (write_all(writing.get(), "!") != 0) ::_exit(1);
    write_for_ever(path, committed);
  }
  char begun = 0;
  const bool has_begun = read_some(reading.get(), &begun, 1) == 1;
  spin_for(delay);
  int status = 0;
  const bool was_sent = ::kill(writer, SIGKILL) == 0;
  return ::waitpid(writer, &status, 0) == writer && has_begun && was_sent && WIFSIGNALED(status);
}

/// A folder in memory if there is one: fsync takes no time there, so a kill can fall anywhere; on a
/// disk nearly all kills would fall into the fsync.
fs::path fast_folder() {
  const char* const shared_memory = "/dev/shm";
  return ::access(shared_memory, W_OK) == 0 ? shared_memory : fs::temp_directory_path();
}

/// How long one write takes here, roughly.
std::chrono::nanoseconds time_of_a_write(const fs::path& path) {
  constexpr int kWrites = 10;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kWrites; ++i) write_file_atomic(path, content_of(0)).value();
  return (std::chrono::steady_clock::now() - start) / kWrites;
}

TEST(AtomicFile, AWriterKilledAtAnyMomentLeavesTheOldFileOrTheNewOne) {
  constexpr int kKills = 200;
  constexpr int kKillsAtMost = 20 * kKills;
  const TempDir dir(fast_folder());
  const fs::path path = dir / "run.json";
  const SystemClock clock;
  void* memory =
      ::mmap(nullptr, sizeof(Committed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Committed& committed = *new (memory) Committed(0);
  std::chrono::nanoseconds longest = 3 * time_of_a_write(path);

  std::mt19937_64 random(20261115);
  int with_temporary = 0;
  // On a busy machine the writer may get no time before it is killed: try again with a longer
  // delay.
  const auto is_enough = [&](int kills) {
    return kills >= kKills && ((with_temporary > 0 && committed > 0) || kills >= kKillsAtMost);
  };
  for (int kill = 0; !is_enough(kill); ++kill) {
    if (kill > 0 && kill % kKills == 0) longest *= 2;
    const std::chrono::nanoseconds delay = longest * (random() % 1000) / 1000;
    ASSERT_TRUE(write_until_killed(path, committed, delay)) << "the writer failed by itself";

    const std::optional<std::uint64_t> found = number_of(read_file(path).value());
    ASSERT_TRUE(found) << "torn after kill " << kill;
    // The rename may have happened without the writer having reported it.
    ASSERT_TRUE(*found == committed || *found == committed + 1) << *found << " after " << committed;
    committed = *found;

    const std::size_t stale = remove_stale_temporaries(dir.path(), clock).value().size();
    ASSERT_LE(stale, 1U);
    with_temporary += static_cast<int>(stale);
    ASSERT_THAT(names_in(dir.path()), ElementsAre("run.json"));
  }
  // Otherwise the test proved nothing: some kills must fall into a write, and some writes succeed.
  EXPECT_GT(with_temporary, 0);
  EXPECT_GT(committed, 0U);
  ::munmap(memory, sizeof(Committed));
}

TEST(AtomicFile, APrivateOneIsItsOwnersAloneWhateverStoodThere) {
  const TempDir dir;
  put(dir / "old", "x");
  ASSERT_EQ(::chmod((dir / "old").c_str(), 0644), 0);
  for (const char* name : {"old", "new"}) {
    ASSERT_TRUE(write_private_file(dir / name, "secret"));
    EXPECT_EQ(permissions_of(dir / name), 0600U) << name;
    EXPECT_EQ(read_file(dir / name).value(), "secret");
  }
}

}  // namespace
}  // namespace profline
