// One accepted connection, TCP or TLS, without a word of Asio.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace taut {

// The events of a connection. All calls for one connection come one after the other, from the loop's threads.
class ConnectionUser {
 public:
  virtual ~ConnectionUser() = default;
  virtual void OnOpen() = 0;  // ready to read: the TLS handshake, if any, is done
  // 0 bytes: the client sends no more.
  virtual void OnRead(size_t bytes) = 0;
  virtual void OnWritten(size_t bytes) = 0;  // may be fewer than asked for
  // The connection is of no use any more: what was asked for will not come.
  virtual void OnFailed() = 0;
};

// Calls may come from the connection's own turn only: inside of ConnectionUser's calls or of Post's.
class Connection {
 public:
  virtual ~Connection() = default;
  // `self` is held while something is under way.
  using User = std::shared_ptr<ConnectionUser>;

  virtual void Open(User self) = 0;
  // At most one read and one write at a time; the bytes must stay where they are until told.
  virtual void Read(User self, char* into, size_t size) = 0;
  virtual void Write(User self, std::string_view first, std::string_view second) = 0;
  // No more will be sent: says goodbye and reads away what still comes (closing on unread bytes would take
  // the last answer from the client). OnFailed when the client is gone; it is for the user to set an end to
  // that.
  virtual void Finish(User self) = 0;
  // Ends everything; calls for what was under way may still come, as OnFailed. May be called again.
  virtual void Close() = 0;

  // From any thread: runs `work` in the connection's turn.
  virtual void Post(std::function<void()> work) = 0;

  // From OnOpen on.
  // The common name in the client's verified certificate ("" if it has none); nullopt: no certificate.
  virtual std::optional<std::string> client_certificate() const = 0;
  virtual const std::string& peer() const = 0;  // "127.0.0.1:40404"
};

}  // namespace taut
