// Listen addresses as values of settings.
#pragma once

#include <vector>

#include "common/net/server_options.h"
#include "common/settings/setting_field.h"

namespace taut::server {

// Returns the field of a setting with one or more listen addresses, such as "127.0.0.1:7070".
FieldRef AddressesOf(std::vector<ListenAddress>* value);

}  // namespace taut::server
