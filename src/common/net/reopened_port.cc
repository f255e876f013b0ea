#include "common/net/reopened_port.h"

#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "common/net/server_options.h"

namespace taut {
namespace {

std::string WithPort(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? StrCat(host, ":", port) : StrCat("[", host, "]:", port);
}

}  // namespace

std::string TextOfFiles(std::initializer_list<const std::string*> names) {
  std::string out;
  for (const std::string* name : names)
    StrAppend(&out, name->empty() ? "" : ReadWhole(*name).value_or(""), "\n\n");
  return out;
}

absl::Status ReopenPort(const Addresses& listen, int port, const PortSteps& steps) {
  Addresses free = listen, real = listen;
  for (size_t i = 0; i < listen.size(); ++i) {
    const absl::StatusOr<ListenAddress> address = ParseListenAddress(listen[i]);
    if (!address.ok()) return address.status();
    free[i] = WithPort(address->host, 0);
    if (i == 0 && address->port == 0) real[i] = WithPort(address->host, port);
  }
  if (absl::Status s = steps.attempt(free); !s.ok()) return s;
  steps.stop();
  const absl::Status s = steps.open(real);
  if (s.ok()) return s;
  return absl::Status(s.code(), StrCat(Message(s), "; the port is closed until the next SIGHUP or restart"));
}

}  // namespace taut
