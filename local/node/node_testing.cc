#include "local/node/node_testing.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/files.h"
#include "base/testing/environment.h"

namespace capi::local {
namespace {

// Serves its webhook's port and its health's, both in plain HTTP. It tells its flags and variables, reads files, and
// is ready, or alive, as long as files say so.
constexpr const char* kManager = R"py(#!/usr/bin/env python3
import argparse, http.server, os, signal, sys, threading
p = argparse.ArgumentParser()
p.add_argument("--webhook-port", type=int, default=9443, help="port of webhooks (default 9443)")
p.add_argument("--health-addr", default=":9440", help='address of probes (default ":9440")')
p.add_argument("--say", default="")
p.add_argument("--config", default="")
p.add_argument("--unready-file", default="")
p.add_argument("--dead-file", default="")
p.add_argument("--leader-elect", nargs="?", const="true", default="false")
p.add_argument("--deaf", action="store_true")
a = p.parse_args()
# Who is told to end answers what is on its way.
end = lambda *_: None if a.deaf else threading.Timer(0.3, lambda: os._exit(0)).start()
signal.signal(signal.SIGTERM, end)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args):
        pass
    def do_GET(self):
        ok, text = True, ""
        if self.path == "/readyz":
            ok = not (a.unready_file and os.path.exists(a.unready_file))
        elif self.path == "/livez":
            ok = not (a.dead_file and os.path.exists(a.dead_file))
        elif self.path == "/say":
            text = a.say
        elif self.path == "/pid":
            text = str(os.getpid())
        elif self.path == "/args":
            text = " ".join(sys.argv[1:])
        elif self.path == "/config":
            text = open(a.config).read()
        elif self.path.startswith("/env/"):
            text = os.environ.get(self.path[5:], "<unset>")
        body = text.encode()
        self.send_response(200 if ok else 500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
host, _, port = a.health_addr.rpartition(":")
servers = [Server(("127.0.0.1", a.webhook_port), Handler), Server((host, int(port)), Handler)]
threading.Thread(target=servers[0].serve_forever, daemon=True).start()
print("serves", flush=True)
servers[1].serve_forever()
)py";

}  // namespace

SmallPrograms::SmallPrograms(const std::string& folder) : manager_(folder + "/manager") {
  if (!WriteFile(manager_, kManager, 0755).ok()) std::abort();
}

Result<Program> SmallPrograms::Find(const Context& ctx, const std::string& image) {
  if (image == "manager") return Program{.path = manager_, .source = "a test"};
  if (image == "sh") return Program{.path = "/bin/sh", .source = "a test"};
  if (image == "throws" && !thrown_.exchange(true)) throw std::runtime_error("no thread");
  if (image == "throws") return Program{.path = manager_, .source = "a test"};
  if (image == "slow") {
    ctx.clock->Sleep(ctx.stop, Seconds(3600));
    return Error{Code::kCancelled, "stopped", {}};
  }
  return Error{Code::kNotFound, "no source has the image " + image, {}};
}

NodeOptions OptionsBelow(const std::string& folder, const kube::Config& config) {
  return {.folder = folder + "/pods",
          .volumes = folder + "/volumes",
          .server = config.server,
          .ca_pem = config.tls.ca_pem.empty() ? *ReadFile(config.tls.ca_file) : config.tls.ca_pem,
          .socket = folder + "/s",
          .environment = {"PATH=" + EnvironmentVariable("PATH"), "OF_NODE=" + folder}};
}

RunningNode::RunningNode(const std::string& folder, kube::Client& client)
    : programs_(folder),
      options_(OptionsBelow(folder, client.config())),
      node_(client, programs_, options_, SystemClock()),
      thread_([this] {
        Context ctx;
        ctx.stop = stop_.get_token();
        ctx.log = Logger::Create(LogLevel::kWarn, LogFormat::kText);
        Status ran = node_.Run(ctx);
        EXPECT_TRUE(ran.ok()) << ran.error().message;
      }) {}

RunningNode::~RunningNode() { Stop(); }

Millis RunningNode::Stop() {
  MonoTime start = SystemClock().Monotonic();
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
  return std::chrono::duration_cast<Millis>(SystemClock().Monotonic() - start);
}

std::string AskService(const NodeOptions& options, const std::string& address, const std::string& path) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  options.socket.copy(to.sun_path, sizeof to.sun_path - 1);
  timeval limit{10, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string text;
  auto say = [&](const std::string& words) { return send(fd, words.data(), words.size(), MSG_NOSIGNAL) >= 0; };
  auto read = [&](const char* until) {
    std::array<char, 4096> buffer;
    ssize_t size = 0;
    while (text.find(until) == text.npos && (size = recv(fd, buffer.data(), buffer.size(), 0)) > 0) {
      text.append(buffer.data(), static_cast<size_t>(size));
    }
  };
  bool open = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  if (open && say("CONNECT " + address + " HTTP/1.1\r\n\r\n")) read("\r\n\r\n");
  if (text.starts_with("HTTP/1.1 200")) {
    text.clear();
    if (say("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) read("no such text");
    text = text.find("\r\n\r\n") == text.npos ? "" : text.substr(text.find("\r\n\r\n") + 4);
  } else if (text.size() > 9) {
    text = text.substr(9, text.find("\r\n") - 9);
  }
  close(fd);
  return text;
}

std::vector<int> ProcessesWith(const std::string& text) {
  std::vector<int> found;
  for (const std::string& name : ListDir("/proc").value()) {
    if (name.find_first_not_of("0123456789") != name.npos || name == std::to_string(getpid())) continue;
    std::string all;
    for (const char* file : {"/cmdline", "/environ"}) {
      std::ifstream in("/proc/" + name + file);
      std::stringstream content;
      content << in.rdbuf();
      all += content.str();
    }
    if (all.find(text) != all.npos) found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace capi::local
