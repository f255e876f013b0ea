// Fuzzes the parser of a replica policy's state with arbitrary bytes. The bytes are rejected with an error, or
// result in a policy that decides within its bounds.
#include <cstdlib>
#include <string_view>

#include "brain/replicas/policies.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  brain::ReplicaSettings settings;
  settings.bounds.max = 50;
  settings.bounds.min = size % 2 == 0 ? 0 : 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto policy = brain::LoadReplicaPolicy(bytes, settings);
  if (!policy.ok()) return 0;
  int count = 3;
  for (int m = 0; m < 20; ++m) {
    const double load = m % 7 * 1.5;
    count = (*policy)->Decide({Timestamp::FromSeconds(1'700'000'000 + m * 60), load, 1, count, 0});
    if (count < settings.bounds.min || count > settings.bounds.max) std::abort();
  }
  Reason reason;
  (*policy)->Explain(reason);
  return 0;
}
