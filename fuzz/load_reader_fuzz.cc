// Any bytes may be offered as a load file: every row is used or counted with its cause, and a series has no
// more steps than are allowed.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "trace/load_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("taut_load_fuzz_" + std::to_string(getpid()) + ".csv"))
          .string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  ReadReport report;
  const auto loads = ReadLoads({{path}, /*strict=*/false}, report);
  uint64_t skipped = 0;
  for (const auto& [cause, what] : report.skipped) skipped += what.count;
  if (report.rows != report.rows_used + skipped) std::abort();
  if (!loads.ok()) return 0;
  for (const LoadSeries& series : *loads) {
    if (series.step_s < 1 || series.load.size() > std::max<size_t>(20'160, 100 * report.rows)) std::abort();
  }
  return 0;
}
