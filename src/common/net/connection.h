// One accepted connection, TCP or TLS, as an interface without Asio.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace taut {

// Receives the events of a connection. Calls for one connection are sequential, from the listener's threads.
class ConnectionUser {
 public:
  virtual ~ConnectionUser() = default;
  virtual void OnOpen() = 0;  // ready to read; the TLS handshake, if any, is done
  // `bytes` is 0 when the client has finished sending.
  virtual void OnRead(size_t bytes) = 0;
  virtual void OnWritten(size_t bytes) = 0;  // `bytes` may be fewer than requested
  // The connection is unusable: outstanding operations will not complete.
  virtual void OnFailed() = 0;
};

// Call functions other than Post() only on the connection's strand: inside a call to ConnectionUser, or inside a
// function passed to Post(). The strand runs one function at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  // The connection keeps the user alive while an operation is outstanding.
  using User = std::shared_ptr<ConnectionUser>;

  virtual void Open(User self) = 0;
  // At most one read and one write may be outstanding. The buffers must stay valid until the matching event.
  virtual void Read(User self, char* into, size_t size) = 0;
  virtual void Write(User self, std::string_view first, std::string_view second) = 0;
  // Half-closes the connection and drains the input until the client closes its side, then calls OnFailed; the
  // caller sets the timeout. Closing with unread input would reset the connection and lose the last response.
  virtual void Finish(User self) = 0;
  // Closes the connection; outstanding operations may still end with OnFailed. Idempotent.
  virtual void Close() = 0;

  // Runs `work` on the connection's strand. Thread-safe.
  virtual void Post(std::function<void()> work) = 0;

  // Returns the common name in the client's verified certificate; "" if the certificate has no common name,
  // nullopt without a certificate. Valid after OnOpen.
  virtual std::optional<std::string> client_certificate() const = 0;
  virtual const std::string& peer() const = 0;  // address such as "127.0.0.1:40404"
};

}  // namespace taut
