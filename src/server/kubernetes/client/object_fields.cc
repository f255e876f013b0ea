#include "server/kubernetes/client/object_fields.h"

#include "server/ingest/owners.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {

void ReadOwner(JsonNode metadata, std::string& kind, std::string& name) {
  metadata["ownerReferences"].ForEachItem([&](JsonNode owner) {
    if (!owner.Flag("controller") || !IsProgramName(owner.Text("name")) || !IsProgramName(owner.Text("kind")))
      return;
    kind = owner.Text("kind");
    name = owner.Text("name");
  });
}

std::string NamedProgram(JsonNode metadata) {
  for (const char* where : {"labels", "annotations"}) {
    const std::string_view name = metadata[where].Text(kProgramName);
    if (IsProgramName(name)) return std::string(name);
  }
  return "";
}

std::string GeneratedFrom(JsonNode metadata) {
  std::string_view name = metadata.Text("generateName");
  while (name.ends_with('-') || name.ends_with('.')) name.remove_suffix(1);
  return std::string(WithoutRunSuffix(name));
}

std::optional<double> ReadAmount(JsonNode at, std::string_view key) {
  const JsonNode value = at[key];
  const std::optional<std::string_view> text = value.text();
  return text.has_value() ? ParseQuantity(*text) : value.number();
}

Amounts ReadAmounts(JsonNode resources, std::string_view key) {
  const JsonNode amounts = resources[key];
  return {ReadAmount(amounts, "cpu"), ReadAmount(amounts, "memory")};
}

}  // namespace taut::server
