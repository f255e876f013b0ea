#include "common/rpc/connection_acceptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "common/base/strings.h"
#include "common/net/access.h"
#include "common/net/silent_connection.h"
#include "common/rpc/socket_check.h"

namespace taut {
namespace {

constexpr int kBacklog = 1024;
constexpr int kSweepMs = 5000;
constexpr int64_t kLeastBetweenSweepsMs = 100;
constexpr size_t kFewConnections = 256;
constexpr int kNoDescriptorPauseMs = 100;

int64_t NowMs() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

// Returns 0 if the descriptor is not a socket any more.
uint64_t InodeOf(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

OpenConnections::Address FromIpv4(const in_addr& v4) {
  OpenConnections::Address out{};
  out[10] = out[11] = 0xff;
  std::memcpy(out.data() + 12, &v4, 4);
  return out;
}

OpenConnections::Peer PeerOf(const sockaddr_storage& peer) {
  OpenConnections::Peer out;
  if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    std::memcpy(out.address.data(), &v6.sin6_addr, out.address.size());
    out.port = ntohs(v6.sin6_port);
  } else {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    out.address = FromIpv4(v4.sin_addr);
    out.port = ntohs(v4.sin_port);
  }
  return out;
}

}  // namespace

AcceptorOptions BoundedByDescriptors(AcceptorOptions wanted, uint64_t descriptors) {
  const auto affordable = static_cast<size_t>(std::max<uint64_t>(descriptors / 2, 1));
  wanted.max_connections = std::min(wanted.max_connections, affordable);
  wanted.max_per_address =
      std::min(wanted.max_per_address, std::max<size_t>(wanted.max_connections * 3 / 4, 1));
  return wanted;
}

std::optional<OpenConnections::Peer> OpenConnections::ParsePeer(std::string_view text) {
  const bool is_v4 = text.starts_with("ipv4:");
  if (!is_v4 && !text.starts_with("ipv6:")) return std::nullopt;
  const std::string plain = PercentDecode(text.substr(5), PlusSign::kItself).value_or("");
  const std::string host(
      HostWithoutPort(plain).substr(0, HostWithoutPort(plain).find('%')));  // without an IPv6 zone
  Peer out;
  const std::string_view digits =
      std::string_view(plain).substr(std::min(plain.size(), plain.rfind(':') + 1));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  in_addr v4{};
  if (!is_v4 && inet_pton(AF_INET6, host.c_str(), out.address.data()) == 1) return out;
  if (inet_pton(AF_INET, host.c_str(), &v4) != 1) return std::nullopt;
  out.address = FromIpv4(v4);
  return out;
}

bool OpenConnections::IsFull(const Address& address) const {
  if (size_ >= options_.max_connections) return true;
  const auto it = by_address_.find(address);
  return it != by_address_.end() && it->second.size() >= options_.max_per_address;
}

bool OpenConnections::HasRoom(const Address& address, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (!IsFull(address)) return true;
  if (now_ms - swept_ms_ < kLeastBetweenSweepsMs) return false;
  swept_ms_ = now_ms;
  SweepAll();
  return !IsFull(address);
}

bool OpenConnections::Displace(const Address& address) {
  const std::lock_guard lock(mutex_);
  const auto own = by_address_.find(address);
  const bool crowded = own != by_address_.end() && own->second.size() >= options_.max_per_address;
  auto best_address = by_address_.end();
  OfAddress::iterator best;
  for (auto it = crowded ? own : by_address_.begin(); it != by_address_.end(); ++it) {
    for (auto open = it->second.begin(); open != it->second.end(); ++open) {
      if (open->second.is_known) continue;
      const SilentConnection its{it->second.size(), open->second.since_ms};
      const bool first = best_address == by_address_.end();
      if (!first && !GoesBefore(its, {best_address->second.size(), best->second.since_ms})) continue;
      best_address = it;
      best = open;
    }
    if (crowded) break;
  }
  if (best_address == by_address_.end()) {
    // All open connections are authenticated. If there are few connections, sweep at once, because some clients
    // call once and disconnect.
    if (size_ > kFewConnections) return false;
    SweepAll();
    return !IsFull(address);
  }
  // The owner may have closed the descriptor, and another file may have its number.
  if (InodeOf(best->second.fd) == best->second.inode) shutdown(best->second.fd, SHUT_RDWR);
  best_address->second.erase(best);
  if (best_address->second.empty()) by_address_.erase(best_address);
  --size_;
  return true;
}

void OpenConnections::Add(const Peer& peer, int fd, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] =
      by_address_[peer.address].insert_or_assign(peer.port, Open{fd, InodeOf(fd), now_ms, false});
  size_ += is_new ? 1 : 0;
}

void OpenConnections::Know(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  const auto it = by_address_.find(peer.address);
  if (it == by_address_.end()) return;
  const auto open = it->second.find(peer.port);
  if (open != it->second.end()) open->second.is_known = true;
}

void OpenConnections::Sweep() {
  const std::lock_guard lock(mutex_);
  SweepAll();
}

void OpenConnections::SweepAll() {
  size_ = 0;
  for (auto it = by_address_.begin(); it != by_address_.end();) {
    std::erase_if(it->second, [](const auto& open) { return InodeOf(open.second.fd) != open.second.inode; });
    size_ += it->second.size();
    it = it->second.empty() ? by_address_.erase(it) : std::next(it);
  }
}

void ConnectionAcceptor::Know(std::string_view peer) {
  if (const auto parsed = OpenConnections::ParsePeer(peer); parsed.has_value()) open_.Know(*parsed);
}

absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> ConnectionAcceptor::Listen(
    const std::vector<ListenAddress>& addresses, const AcceptorOptions& options) {
  std::unique_ptr<ConnectionAcceptor> acceptor(new ConnectionAcceptor(options));
  acceptor->stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (acceptor->stop_fd_ < 0) return absl::ResourceExhaustedError("eventfd failed: no free file descriptor");
  for (const ListenAddress& address : addresses) {
    const absl::StatusOr<int> fd = BindSocket(address);
    if (!fd.ok()) return fd.status();
    acceptor->listeners_.push_back(*fd);
    if (listen(*fd, kBacklog) != 0) {
      return absl::UnavailableError(
          StrCat("cannot listen on ", FormatAddress(address), ": ", std::strerror(errno)));
    }
  }
  if (acceptor->listeners_.empty()) return acceptor;
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  getsockname(acceptor->listeners_.front(), reinterpret_cast<sockaddr*>(&bound), &size);
  acceptor->port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                      : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return acceptor;
}

ConnectionAcceptor::~ConnectionAcceptor() {
  Stop();
  if (stop_fd_ >= 0) close(stop_fd_);
}

void ConnectionAcceptor::Run(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  thread_ = std::thread([this] { Loop(); });
}

void ConnectionAcceptor::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop_fd_, &one, sizeof(one));
    thread_.join();
  }
  // Close the listeners so that another process can bind the addresses.
  for (const int fd : listeners_) close(fd);
  listeners_.clear();
}

void ConnectionAcceptor::Loop() {
  std::vector<pollfd> ready = {{stop_fd_, POLLIN, 0}};
  for (const int fd : listeners_) ready.push_back({fd, POLLIN, 0});
  for (;;) {
    const int n = poll(ready.data(), ready.size(), kSweepMs);
    if (n == 0) open_.Sweep();
    if (n <= 0) continue;
    if (ready[0].revents != 0) return;
    for (size_t i = 1; i < ready.size(); ++i) {
      if (ready[i].revents != 0) AcceptAll(ready[i].fd);
    }
  }
}

void ConnectionAcceptor::AcceptAll(int listener) {
  // Bound the loop, so that a flood on one listener cannot keep the other listeners and Stop() waiting.
  for (int i = 0; i < kBacklog; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    const int fd = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // No descriptor is free: pause, or poll would report the waiting connection in a busy loop. The
      // connection stays in the backlog.
      if (errno == EMFILE || errno == ENFILE) poll(nullptr, 0, kNoDescriptorPauseMs);
      return;
    }
    const OpenConnections::Peer from = PeerOf(peer);
    if (!open_.HasRoom(from.address, NowMs())) {
      rejected_.fetch_add(1);
      if (!open_.Displace(from.address)) {
        close(fd);
        continue;
      }
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    open_.Add(from, fd, NowMs());
    accepted_.fetch_add(1);
    on_accept_(listener, fd);
  }
}

}  // namespace taut
