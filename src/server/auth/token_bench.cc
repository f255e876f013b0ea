// Benchmarks the verification of a token of an OpenID Connect provider, which happens once per request.
// Budget: 300 us.
#include <benchmark/benchmark.h>

#include "server/auth/oidc_fixture.h"
#include "server/auth/token.h"

namespace taut::server {
namespace {

void VerifyOne(benchmark::State& state) {
  const TokenMaker maker;
  const std::shared_ptr<const KeySet> keys = *KeySet::Parse(maker.Jwks());
  constexpr std::string_view kClaims =
      R"({"iss":"https://id.example","aud":"tautd","sub":"mia","groups":["a","b","c"],"exp":1800000000})";
  const std::string token = state.range(0) == 0 ? maker.Rs256(kClaims) : maker.Es256(kClaims);
  const TokenRules rules{.issuer = "https://id.example", .audience = "tautd"};
  bool ok = true;
  for (auto _ : state) ok = ok && VerifyToken(token, *keys, rules, 1'700'000'000).ok();
  state.SetLabel(ok ? "budget 300 us" : "NOT VERIFIED");
}
BENCHMARK(VerifyOne)->ArgName("es256")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace taut::server
