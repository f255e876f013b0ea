// Fuzzes the parser of tautlet's ledger with arbitrary bytes. The bytes are rejected with a line number, or result
// in a ledger that is unchanged after it is written and parsed again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "node/agent/ledger.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entries = node::Ledger::Parse(bytes, "ledger");
  if (!entries.ok()) {
    Require(Message(entries.status()).substr(0, 7) == "ledger:");
    return 0;
  }
  const std::string text = node::Ledger::Text(*entries);
  const auto again = node::Ledger::Parse(text, "ledger");
  Require(again.ok());
  Require(node::Ledger::Text(*again) == text);
  Require(again->terms.size() == entries->terms.size());
  for (const auto& [identity, entry] : entries->entries) {
    const auto it = again->entries.find(identity);
    Require(it != again->entries.end() && it->second.job == entry.job && it->second.task == entry.task);
    for (const auto& [kind, value] : entry.values) {
      const auto twin = it->second.values.find(kind);
      Require(twin != it->second.values.end() && twin->second.owner == value.owner &&
              twin->second.set == value.set);
    }
  }
  return 0;
}
