#include "common/settings/file_text.h"

#include <algorithm>
#include <fstream>

namespace taut {

std::optional<std::string> ReadFileText(const std::string& path, size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  constexpr size_t kPieceBytes = 65536;
  std::string text;
  while (file && text.size() <= most) {
    const size_t had = text.size();
    text.resize(std::min(had + std::max(had, kPieceBytes), most + 1));
    file.read(text.data() + had, static_cast<std::streamsize>(text.size() - had));
    text.resize(had + static_cast<size_t>(file.gcount()));
  }
  if (file.bad() || (text.empty() && !file.eof())) return std::nullopt;
  return text;
}

}  // namespace taut
