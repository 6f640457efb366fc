#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "process/runner.h"
#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

void make_file(const std::filesystem::path& path, mode_t mode) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  ::chmod(path.c_str(), mode);
}

TEST(FindProgram, TakesTheFirstExecutableFile) {
  const testing::TempDir folder;
  make_file(folder / "plain/tool", 0644);
  std::filesystem::create_directories(folder / "folder/tool");
  make_file(folder / "first/tool", 0755);
  make_file(folder / "second/tool", 0755);
  const std::string at = folder.path().string();
  const std::string path =
      at + "/none:" + at + "/plain:" + at + "/folder:" + at + "/first:" + at + "/second";
  EXPECT_EQ(*find_program("tool", path, {}), folder / "first/tool");
}

TEST(FindProgram, ReadsRelativeNamesFromTheChildsFolder) {
  const testing::TempDir folder;
  make_file(folder / "tool", 0755);
  make_file(folder / "bin/tool2", 0755);
  EXPECT_EQ(*find_program("./tool", "", folder.path()), folder / "./tool");
  EXPECT_EQ(*find_program("tool2", "bin", folder.path()), folder / "bin/tool2");
  EXPECT_EQ(*find_program("tool", "/none:", folder.path()), folder / "./tool");
  EXPECT_EQ(*find_program("/bin/sh", "", folder.path()), "/bin/sh");
}

TEST(FindProgram, SaysWhyNot) {
  const testing::TempDir folder;
  make_file(folder / "tool", 0644);
  const std::string at = folder.path().string();
  struct Case {
    std::string name, path, message;
    ErrorKind kind;
  };
  const Case cases[] = {
      {"nsis", "/a:/b", "cannot run 'nsis': not found in PATH (2 folders searched)",
       ErrorKind::NotFound},
      {"nsis", "/a", "cannot run 'nsis': not found in PATH (1 folder searched)",
       ErrorKind::NotFound},
      {"tool", at,
       "cannot run 'tool' (" + at + "/tool): it is not executable (chmod +x makes it executable)",
       ErrorKind::Io},
      {at + "/tool", "",
       "cannot run '" + at + "/tool': it is not executable (chmod +x makes it executable)",
       ErrorKind::Io},
      {at + "/none", "", "cannot run '" + at + "/none': no such file", ErrorKind::NotFound},
      {at + "/", "", "cannot run '" + at + "/': it is a folder", ErrorKind::Config},
  };
  for (const Case& c : cases) {
    const auto found = find_program(c.name, c.path, {});
    ASSERT_FALSE(found) << c.message;
    EXPECT_EQ(found.error().to_string(), c.message);
    EXPECT_EQ(found.error().kind(), c.kind);
  }
}

TEST(FindProgram, UsesOurOwnPath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_EQ(default_path(), "/bin:/usr/bin");
}

/// What temporary_folder() returns with TMPDIR set to `value`.
std::string with_tmpdir(const std::string& value) {
  return testing::in_child([&]() -> std::string {
    ::setenv("TMPDIR", value.c_str(), 1);
    const auto folder = temporary_folder();
    return folder ? folder->string() : folder.error().to_string();
  });
}

TEST(TemporaryFolder, IsTheOneThatTmpdirNames) {
  const testing::TempDir folder;
  EXPECT_EQ(with_tmpdir(folder.path().string()), folder.path().string());
}

TEST(TemporaryFolder, OneThatIsNotThereIsReportedWithItsVariable) {
  EXPECT_EQ(with_tmpdir("/nowhere"),
            "TMPDIR is '/nowhere', which is not a folder; set TMPDIR to a folder for temporary "
            "files, such as TMPDIR=/tmp");
}

TEST(FindCompanion, IsBesideThisProgramElseOnPath) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(*find_companion(self.filename().string()), self);
  EXPECT_EQ(*find_companion("sh"), *find_program("sh"));
  const auto missing = find_companion("no-such-companion");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
}

TEST(ScratchFolder, GoesWithAllItHolds) {
  std::filesystem::path path;
  {
    const ScratchFolder folder;
    path = folder.path();
    ASSERT_TRUE(std::filesystem::is_directory(path));
    std::filesystem::create_directories(path / "a/b");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, GoesAtAnInterruptToo) {
  const ScratchFolder folder;
  ASSERT_TRUE(std::filesystem::is_directory(folder.path()));
  EXPECT_EQ(testing::in_child([&]() -> std::string {
              undo_unfinished_work();
              return "undone";
            }),
            "undone");
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
}

TEST(ScratchFolder, IsEmptyWhereNoneCanBeMade) {
  EXPECT_EQ(testing::in_child([]() -> std::string {
              ::setenv("TMPDIR", "/nowhere", 1);
              return ScratchFolder().path().string();
            }),
            "");
}

}  // namespace
}  // namespace profline
