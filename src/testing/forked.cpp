#include "testing/forked.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/error.h"
#include "base/files.h"

namespace profline::testing {

std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  PL_ASSERT(::pipe2(ends.data(), O_CLOEXEC) == 0, "a test can have a pipe");
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  PL_ASSERT(child >= 0, "a test can have a child");
  if (child == 0) {
    // _exit: neither the test framework nor a leak check runs in the child.
    ::_exit(write_all(writing.get(), body()) == 0 ? 0 : 1);
  }
  writing.reset();
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = read_some(reading.get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "child died";
}

std::string mount_small_tmpfs(const std::string& folder, std::size_t bytes,
                              const std::string& options) {
  // Root needs no user namespace; everyone else may mount in their own, where allowed.
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return "unshare: " + os_error_words(errno);
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return "making mounts private: " + os_error_words(errno);
  }
  std::string size = "size=" + std::to_string(bytes);
  if (!options.empty()) size += "," + options;
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) != 0) {
    return "mounting a tmpfs: " + os_error_words(errno);
  }
  return {};
}

std::string remount_read_only(const std::string& folder) {
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0) return {};
  return "mounting read-only: " + os_error_words(errno);
}

}  // namespace profline::testing
