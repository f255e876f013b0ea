#include "server/config/address_field.h"

#include "common/base/strings.h"

namespace taut::server {
namespace {

absl::Status SetAddresses(const FieldSpec& /*spec*/, std::span<const std::string> values, void* target,
                          const void* /*context*/) {
  std::vector<ListenAddress> addresses;
  for (const std::string& value : values) {
    absl::StatusOr<ListenAddress> address = ParseListenAddress(StripSpace(value));
    if (!address.ok()) return address.status();
    addresses.push_back(*std::move(address));
  }
  if (addresses.empty()) return absl::InvalidArgumentError("must have at least one address");
  *static_cast<std::vector<ListenAddress>*>(target) = std::move(addresses);
  return absl::OkStatus();
}

std::string ShowAddresses(const FieldSpec& /*spec*/, const void* value) {
  std::vector<std::string> texts;
  for (const ListenAddress& a : *static_cast<const std::vector<ListenAddress>*>(value))
    texts.push_back(FormatAddress(a));
  return StrCat("[", Join(texts, ", "), "]");
}

}  // namespace

FieldRef AddressesOf(std::vector<ListenAddress>* value) {
  static constexpr FieldType kType = {SetAddresses, ShowAddresses, CopyField<std::vector<ListenAddress>>,
                                      true};
  return {value, kType};
}

}  // namespace taut::server
