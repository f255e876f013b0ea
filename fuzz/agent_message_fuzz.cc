// Fuzzes the parser of agent messages with arbitrary bytes. The parser rejects a message, or the message is
// unchanged after it is encoded and parsed again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/base/printable.h"
#include "common/rpc/validate.h"

namespace taut {
namespace {

namespace v1 = taut::agent::v1;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckNames(const v1::TaskName& name) {
  for (const std::string* text : {&name.job(), &name.task()}) {
    Require(!text->empty() && text->size() <= 512 && IsPrintableUtf8(*text));
  }
}

// Checks the properties of a valid message that the code after validation assumes.
void UseWindows(const v1::Windows& windows) {
  double seconds[kCpuGridBuckets] = {};
  for (const v1::TaskWindow& task : windows.tasks()) {
    CheckNames(task.name());
    for (int i = 0; i < task.cpu_buckets_size(); ++i) {
      seconds[task.cpu_buckets(i)] += static_cast<double>(task.cpu_seconds(i));
    }
    Require(!std::isnan(static_cast<double>(task.cpu_mean_cores())) && task.cpu_mean_cores() >= 0);
  }
  for (const double s : seconds) Require(s >= 0);
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  v1::FromAgent message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (!CheckMessage(message).ok()) return 0;
  Require(message.body_case() != v1::FromAgent::BODY_NOT_SET);
  v1::FromAgent again;
  Require(again.ParseFromString(message.SerializeAsString()) && CheckMessage(again).ok());
  if (message.has_windows()) UseWindows(message.windows());
  if (message.has_oom()) CheckNames(message.oom().name());
  if (message.has_hello()) Require(!message.hello().agent().empty());
  return 0;
}
