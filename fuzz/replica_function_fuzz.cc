// Fuzzes the parser of function.target with arbitrary text. The text is rejected with an error, or results in a
// policy that decides within its bounds and can restore its own state.
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "brain/replicas/policies.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  brain::ReplicaSettings settings;
  settings.bounds.max = 50;
  settings.step_s = 300;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!brain::SetReplicaSetting("function.target", text, settings).ok()) return 0;
  if (!brain::CheckReplicaSettings(settings).ok()) std::abort();
  std::unique_ptr<brain::ReplicaPolicy> policy = (*brain::FindReplicaPolicy("function"))->make(settings);
  if (policy->state_bytes() > size_t{1} << 20) std::abort();
  int count = 3;
  for (int m = 0; m < 20; ++m) {
    if (m == 10) {
      auto restored = brain::LoadReplicaPolicy(brain::SaveReplicaPolicy("function", *policy), settings);
      if (!restored.ok()) std::abort();
      policy = *std::move(restored);
    }
    std::optional<double> load = m % 7 * 1.5;
    if (m == 5 || m > 17) load = std::nullopt;
    const int before = count;
    count = policy->Decide({Timestamp::FromSeconds(1'700'000'000 + m * 300), load, 1, count, 0});
    if (count < settings.bounds.min || count > settings.bounds.max) std::abort();
    if (!load.has_value() && policy->reads_load() && count != before) std::abort();
    Reason reason;
    policy->Explain(reason);
    if (reason.sentence.empty()) std::abort();
  }
  return 0;
}
