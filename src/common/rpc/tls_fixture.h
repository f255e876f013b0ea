// For tests: certificates made by the program openssl.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"

namespace taut {

// Two CAs, "ca" and "other". "ca" signs "server" and "client", and "other" signs "stranger". Each certificate has
// the files NAME.pem and NAME.key.
class Certificates {
 public:
  Certificates()
      : made_(MakeCa("ca") && MakeCa("other") &&
              Sign("server", "ca", "subjectAltName=IP:127.0.0.1,DNS:localhost") &&
              Sign("client", "ca", "subjectAltName=DNS:client.example") &&
              Sign("stranger", "other", "keyUsage=digitalSignature")) {}
  bool made() const { return made_; }  // false if openssl is not installed
  std::string File(const std::string& name) const { return dir_.File(name); }

 private:
  static bool Succeeds(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
  }
  bool MakeCa(const std::string& name) const {
    return Succeeds(StrCat(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=", name,
        " -keyout ", File(name + ".key"), " -out ", File(name + ".pem")));
  }
  bool Sign(const std::string& name, const std::string& ca, const std::string& extension) const {
    std::ofstream(File(name + ".ext")) << extension << "\n";
    return Succeeds(StrCat("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=", name,
                           " -keyout ", File(name + ".key"), " -out ", File(name + ".csr"))) &&
           Succeeds(StrCat("openssl x509 -req -days 2 -in ", File(name + ".csr"), " -CA ", File(ca + ".pem"),
                           " -CAkey ", File(ca + ".key"), " -CAcreateserial -extfile ", File(name + ".ext"),
                           " -out ", File(name + ".pem")));
  }

  TempDir dir_;
  bool made_;
};

}  // namespace taut
