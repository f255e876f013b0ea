#include "node/agent/daemon_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include "common/base/strings.h"

namespace taut::node {

absl::Status CheckDaemonAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < address.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("invalid daemon address \"", address, "\": expected HOST:PORT, such as 127.0.0.1:7071"));
}

absl::Status ResolveDaemonAddress(const std::string& address) {
  if (absl::Status s = CheckDaemonAddress(address); !s.ok()) return s;
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo* addresses = nullptr;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int failed = getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &addresses);
  if (failed != 0)
    return absl::InvalidArgumentError(StrCat("cannot resolve \"", address, "\": ", gai_strerror(failed)));
  freeaddrinfo(addresses);
  return absl::OkStatus();
}

}  // namespace taut::node
