// Structured logs: a message and fields, as text or JSON lines on standard error.
//
//   log.Info("applied", {{"object", id}, {"ms", elapsed}});
//   Logger mine = log.With({{"provider", "InfrastructureProvider/aws"}});
//
// Secrets' values are never logged: log names and counts.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace capi {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

// One field of a log line. Numbers and booleans keep their type in JSON.
struct LogField {
  std::string key;
  std::string value;
  bool quoted = true;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), quoted(false) {}
  template <typename T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) LogField(std::string_view k, T v)
      : key(k), value(std::to_string(v)), quoted(false) {}
};

// A cheap handle; copies share one sink. Thread-safe.
class Logger {
 public:
  Logger();  // discards everything
  static Logger Create(LogLevel level, LogFormat format);
  // Lines go to `sink` (without newline). For tests.
  static Logger ToSink(LogLevel level, LogFormat format, void (*sink)(void*, std::string_view), void* arg);

  Logger With(std::initializer_list<LogField> fields) const;
  Logger WithoutFields() const;  // to the same sink; for what outlives the work that the fields tell of
  bool Enabled(LogLevel level) const;
  // From now on, for all that share the sink. One that discards everything goes on with that.
  void SetLevel(LogLevel level) const;

  void Debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void Info(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void Warn(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void Error(std::string_view message, std::initializer_list<LogField> fields = {}) const;

 private:
  struct Sink;
  void Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<const std::vector<LogField>> fields_;
};

}  // namespace capi
