#include "base/log.h"

#include <fmt/core.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/json.h"

namespace capi {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: break;
  }
  return "off";
}

// Control characters would let a text break out of its line.
bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

std::string TextValue(const LogField& field) {
  bool plain =
      !field.value.empty() && field.value.find_first_of(" \"=\\") == std::string::npos && !HasControl(field.value);
  return plain || !field.quoted ? field.value : ToJsonText(Json(field.value));
}

std::string JsonLine(LogLevel level, std::string_view message, const std::vector<const LogField*>& fields) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","msg":{})", FormatMicroTime(SystemClock().Now()),
                                 LevelName(level), ToJsonText(Json(message)));
  for (const LogField* f : fields) {
    bool text = f->quoted || f->value.ends_with("nan") || f->value.ends_with("inf");  // which JSON has no number for
    line += fmt::format(",{}:{}", ToJsonText(Json(f->key)), text ? ToJsonText(Json(f->value)) : f->value);
  }
  return line + "}";
}

std::string TextLine(LogLevel level, std::string_view message, const std::vector<const LogField*>& fields) {
  std::string line = fmt::format("{} {:5} {}", FormatMicroTime(SystemClock().Now()), LevelName(level),
                                 HasControl(message) ? ToJsonText(Json(message)) : std::string(message));
  for (const LogField* f : fields) line += fmt::format(" {}={}", f->key, TextValue(*f));
  return line;
}

}  // namespace

struct Logger::Sink {
  std::atomic<LogLevel> level = LogLevel::kOff;
  LogFormat format = LogFormat::kText;
  std::shared_ptr<spdlog::logger> out;
  void (*function)(void*, std::string_view) = nullptr;
  void* argument = nullptr;
};

Logger::Logger() = default;

Logger Logger::Create(LogLevel level, LogFormat format) {
  auto sink = std::make_shared<Sink>();
  sink->level = level;
  sink->format = format;
  sink->out = std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  sink->out->set_pattern("%v");
  Logger logger;
  logger.sink_ = std::move(sink);
  return logger;
}

Logger Logger::ToSink(LogLevel level, LogFormat format, void (*function)(void*, std::string_view), void* arg) {
  auto sink = std::make_shared<Sink>();
  sink->level = level;
  sink->format = format;
  sink->function = function;
  sink->argument = arg;
  Logger logger;
  logger.sink_ = std::move(sink);
  return logger;
}

Logger Logger::With(std::initializer_list<LogField> fields) const {
  Logger out = *this;
  auto all = fields_ ? std::make_shared<std::vector<LogField>>(*fields_) : std::make_shared<std::vector<LogField>>();
  all->insert(all->end(), fields.begin(), fields.end());
  out.fields_ = std::move(all);
  return out;
}

Logger Logger::WithoutFields() const {
  Logger out = *this;
  out.fields_.reset();
  return out;
}

bool Logger::Enabled(LogLevel level) const {
  if (!sink_) return false;
  const LogLevel least = sink_->level;
  return level >= least && least != LogLevel::kOff;
}

void Logger::SetLevel(LogLevel level) const {
  if (sink_) sink_->level = level;
}

void Logger::Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  if (!Enabled(level)) return;
  std::vector<const LogField*> all;
  if (fields_) {
    for (const auto& field : *fields_) all.push_back(&field);
  }
  for (const auto& field : fields) all.push_back(&field);
  std::string line = sink_->format == LogFormat::kJson ? JsonLine(level, message, all) : TextLine(level, message, all);
  if (sink_->function != nullptr) {
    sink_->function(sink_->argument, line);
  } else {
    sink_->out->log(spdlog::level::critical, spdlog::string_view_t(line.data(), line.size()));
  }
}

void Logger::Debug(std::string_view message, std::initializer_list<LogField> f) const {
  Write(LogLevel::kDebug, message, f);
}
void Logger::Info(std::string_view message, std::initializer_list<LogField> f) const {
  Write(LogLevel::kInfo, message, f);
}
void Logger::Warn(std::string_view message, std::initializer_list<LogField> f) const {
  Write(LogLevel::kWarn, message, f);
}
void Logger::Error(std::string_view message, std::initializer_list<LogField> f) const {
  Write(LogLevel::kError, message, f);
}

}  // namespace capi
