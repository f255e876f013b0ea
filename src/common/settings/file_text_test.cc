#include "common/settings/file_text.h"

#include <gtest/gtest.h>

#include "common/testing/temp_dir.h"

namespace taut {
namespace {

TEST(FileText, HasOneByteMoreThanTheMost) {
  const TempDir folder;
  for (const size_t size : {0U, 1U, 65535U, 65536U, 65537U, 300000U}) {
    const std::string bytes(size, 'x'), path = folder.Write("file", bytes);
    EXPECT_EQ(ReadFileText(path, 1U << 30U), bytes) << size;
    EXPECT_EQ(ReadFileText(path, size), bytes) << size;
    if (size > 0) {
      EXPECT_EQ(ReadFileText(path, size - 1), bytes) << size;
    }
    if (size > 1) {
      EXPECT_EQ(ReadFileText(path, size - 2), bytes.substr(1)) << size;
    }
  }
}

TEST(FileText, HoldsNoMoreMemoryThanTheFileNeeds) {
  const TempDir folder;
  const auto text = ReadFileText(folder.Write("file", "short"), size_t{1} << 40U);
  ASSERT_EQ(text, "short");
  EXPECT_LT(text->capacity(), 1'000'000U);
}

TEST(FileText, AFileThatCannotBeReadIsAbsent) {
  const TempDir folder;
  EXPECT_EQ(ReadFileText(folder.File("none"), 10), std::nullopt);
  EXPECT_EQ(ReadFileText(folder.path(), 10), std::nullopt) << "a folder";
}

}  // namespace
}  // namespace taut
