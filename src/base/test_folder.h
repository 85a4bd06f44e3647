#pragma once

#include "base/check.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace weft {

/// A folder of a test's own, gone with it.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
    WEFT_CHECK(::mkdtemp(pattern.data()) != nullptr, "a test can make a temporary folder");
    path_ = pattern;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weft
