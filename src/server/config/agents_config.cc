#include "server/config/agents_config.h"

#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

const DaemonSetting kAgentsRows[] = {
    {"agents.listen",
     "addresses on which to listen for agents (tautlet), ADDRESS:PORT; empty: none; others than loopback "
     "need tokens or a client CA",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(agents.listen)},
    {"agents.tokens_file", "file of agents' tokens, one per line", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(agents.tokens_file), Reloads()},
    {"agents.tls.certificate", "PEM file of the certificate for agents; with it, TLS only", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(agents.certificate_file), Reloads()},
    {"agents.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_DAEMON_FIELD(agents.key_file), Reloads()},
    {"agents.tls.client_ca", "PEM file: agents must have a certificate of this CA", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(agents.client_ca_file), Reloads()},
};

}  // namespace

DaemonSection AgentsSection() { return {kAgentsRows}; }

}  // namespace taut::server
