#include "process/temporary_folder.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

/// What temporary_folder() says with TMPDIR set so.
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
            "TMPDIR names '/nowhere', which is not a folder; set TMPDIR to one for temporary "
            "files, as in TMPDIR=/tmp");
}

}  // namespace
}  // namespace profline
