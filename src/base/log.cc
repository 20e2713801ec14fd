#include "base/log.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/check.h"

namespace perdure::log {

namespace {

constexpr std::array kLevels = {
    Level::kTrace, Level::kDebug, Level::kInfo, Level::kWarning, Level::kError, Level::kOff};

std::atomic<Level> threshold{Level::kInfo};

thread_local bool inside_sink = false;

class InsideSink {
 public:
  InsideSink() { inside_sink = true; }
  InsideSink(const InsideSink&) = delete;
  InsideSink& operator=(const InsideSink&) = delete;
  ~InsideSink() { inside_sink = false; }
};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kTrace:
      return spdlog::level::trace;
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  std::abort();
}

class Output {
 public:
  // The logger is not entered in spdlog's registry: that belongs to the embedding program.
  Output() : logger_("perdure", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_level(spdlog::level::trace);
    logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc));
  }

  void write(Level level, std::string_view line) {
    const std::lock_guard lock(mutex_);
    const InsideSink inside;
    if (sink_) {
      sink_(level, line);
    } else {
      logger_.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
    }
  }

  void set_sink(Sink sink) {
    // The former sink is destroyed after the lock: its destructor may log.
    const std::lock_guard lock(mutex_);
    sink_.swap(sink);
  }

 private:
  std::mutex mutex_;
  Sink sink_;  // guarded by mutex_
  spdlog::logger logger_;
};

Output& output() {
  // Threads may still log while statics are destroyed.
  static auto* const instance = new Output;
  return *instance;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void append_escaped(std::string& line, std::string_view text, bool quoted) {
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else if (c == '\t') {
      line += "\\t";
    } else if (is_control(c)) {
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned>(c));
      line += hex.data();
    } else {
      if (quoted && (c == '"' || c == '\\')) line += '\\';
      line += c;
    }
  }
}

bool needs_quotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (c == ' ' || c == '"' || c == '=' || c == '\\' || is_control(c)) return true;
  }
  return false;
}

std::string line_of(std::string_view message, Fields fields) {
  std::string line;
  append_escaped(line, message, false);
  for (const Field& field : fields) {
    line += ' ';
    append_escaped(line, field.key, false);
    line += '=';
    const bool quoted = needs_quotes(field.value);
    if (quoted) line += '"';
    append_escaped(line, field.value, quoted);
    if (quoted) line += '"';
  }
  return line;
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::kTrace:
      return "trace";
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
    case Level::kOff:
      return "off";
  }
  std::abort();
}

std::optional<Level> parse_level(std::string_view text) {
  for (const Level level : kLevels) {
    if (to_string(level) == text) return level;
  }
  return std::nullopt;
}

void write(Level level, std::string_view message, Fields fields) noexcept {
  if (!enabled(level) || inside_sink) return;
  try {
    output().write(level, line_of(message, fields));
  } catch (...) {
    // A log that cannot be written has nowhere to say so.
  }
}

void set_level(Level level) {
  threshold.store(level, std::memory_order_relaxed);
}

bool enabled(Level level) {
  return level != Level::kOff && level >= threshold.load(std::memory_order_relaxed);
}

void set_sink(Sink sink) {
  PERDURE_CHECK(!inside_sink, "a log sink must not replace itself");
  output().set_sink(std::move(sink));
}

}  // namespace perdure::log
