#include "common/rpc/socket_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/base/strings.h"

namespace taut {

absl::StatusOr<int> BindSocket(const ListenAddress& address) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(address.port);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  const bool is_v4 = inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1;
  if (!is_v4) inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
  const int fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  // Closed connections in TIME_WAIT would block the address for a minute after a restart.
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool bound = fd >= 0 && (is_v4 ? bind(fd, reinterpret_cast<const sockaddr*>(&v4), sizeof(v4))
                                       : bind(fd, reinterpret_cast<const sockaddr*>(&v6), sizeof(v6))) == 0;
  if (bound) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  return absl::UnavailableError(
      StrCat("cannot listen on ", FormatAddress(address), ": ", std::generic_category().message(error)));
}

}  // namespace taut
