// Fuzzes the reader of load files (CSV, JSON) with arbitrary bytes. Every row is used, or counted with the reason
// why it was skipped. A series has at most the allowed number of steps. The same bytes are also parsed as the
// values of a Prometheus response.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/trace/load_reader.h"

namespace taut {
namespace {

void Read(std::string_view bytes, bool strict, const std::string& job_label) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("taut_load_fuzz_" + std::to_string(getpid()) + ".csv"))
          .string();
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  tools::ReadReport report;
  const auto loads = tools::ReadLoads({{path}, strict, job_label}, report);
  uint64_t skipped = 0;
  for (const auto& [cause, what] : report.skipped) skipped += what.count;
  if (report.rows != report.rows_used + skipped) std::abort();
  if (!loads.ok()) return;
  for (const LoadSeries& series : *loads) {
    if (series.step_s < 1 || series.load.size() > std::max<size_t>(20'160, 100 * report.rows)) std::abort();
  }
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  taut::Read(bytes, false, "");
  taut::Read(bytes, true, "job");
  std::string answer =
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"job":"a"},"values":[)";
  answer.append(bytes).append("]}]}}");
  taut::Read(answer, false, "job");
  return 0;
}
