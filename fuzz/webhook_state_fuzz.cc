// Fuzzes the parsers of the webhook's stored state and of its endpoint's responses with arbitrary bytes. The
// webhook can restore each state that it saved.
#include <cstdlib>
#include <memory>

#include "common/net/scripted_poster.h"
#include "server/connectors/webhook_actuator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size < 4 || size > 1 << 16) return 0;
  double now_s = 0;
  server::WebhookActuator::Options options;
  options.instance = "fuzz";
  options.secret = [] { return std::string("secret"); };
  options.unix_s = [] { return int64_t{1'700'000'000}; };
  options.steady_s = [&now_s] { return now_s; };
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t state = std::min<size_t>(data[0] * 16, size - 1);
  auto poster = std::make_unique<ScriptedPoster>();
  HttpResponse response = TextResponse(200 + data[1] % 8 * 50, std::string(text.substr(1 + state)));
  response.headers.push_back({"Retry-After", std::string(text.substr(1 + state, 8))});
  poster->Add(response);
  server::WebhookActuator first(options, std::move(poster));
  first.LoadState(text.substr(1, state));
  const std::string saved = first.SaveState();
  server::WebhookActuator second(options, std::make_unique<ScriptedPoster>());
  second.LoadState(saved);
  if (second.SaveState() != saved) std::abort();
  const server::TargetOrder order{UINT64_C(1) << 40, "a", Resource::kCpu, 1.0, std::nullopt};
  first.Apply({&order, 1}, 0);
  for (int i = 0; i < 100 && first.counts().waiting > 0; ++i, now_s += 700) (void)first.Step();
  for (const OutcomeUpdate& outcome : first.TakeOutcomes()) {
    if (outcome.text.size() > 4096) std::abort();
  }
  return 0;
}
