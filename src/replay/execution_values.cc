#include <array>
#include <charconv>

#include <perdure/detail/user_error.h>
#include <perdure/errors.h>

#include "replay/arguments.h"
#include "replay/execution.h"
#include "replay/execution_reading.h"

namespace perdure::replay {

namespace {

/// Leaves user code that asks for a value after the engine has stopped it. Should the code catch
/// it, its next await does not come back.
struct Stopped {};

/// A quoted UUID of version 4.
std::string uuid_text(Random& random) {
  std::array<std::uint64_t, 2> bits{random.next(), random.next()};
  bits[0] = (bits[0] & ~0xF000ULL) | 0x4000ULL;
  bits[1] = (bits[1] & ~(3ULL << 62)) | (2ULL << 62);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "\"";
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text += '-';
    text += kHex[(bits[static_cast<std::size_t>(digit / 16)] >> (60 - 4 * (digit % 16))) & 15];
  }
  return text + '"';
}

std::string number_text(Random& random) {
  return std::to_string(random.next());
}

}  // namespace

/// A side effect that threw is recorded too: a replay must find it thrown again.
std::string Execution::record(std::string_view name, const std::function<std::string()>& make) {
  check_read_only();
  if (stopped()) throw Stopped{};
  HistoryEvent event;
  event.kind = EventKind::kSideEffectRecorded;
  event.name = std::string(name);
  if (journal_.is_live()) {
    const Reading reading(*this, ReadOnly::kSideEffect);
    try {
      event.payload = make();
    } catch (...) {
      event.failure = detail::failure_of(std::current_exception());
    }
  }
  const auto recorded = record_command(std::move(event));
  if (!recorded) throw Stopped{};
  if (recorded->failure.type == kInvalidArgumentFailure) {
    throw InvalidArgument(recorded->failure.message);
  }
  if (!recorded->failure.type.empty()) throw Failed(recorded->failure);
  return recorded->payload;
}

/// For ids and numbers, which destructors and loops of stopped code may ask for as well: they get
/// values that nobody records.
std::string Execution::record_or_make(std::string_view name, std::string (*make)(Random&)) {
  check_read_only();
  if (stopped()) return make(rare_.get().unrecorded);
  HistoryEvent event;
  event.kind = EventKind::kSideEffectRecorded;
  event.name = std::string(name);
  if (journal_.is_live()) event.payload = make(random_);
  const auto recorded = record_command(std::move(event));
  return recorded ? recorded->payload : make(rare_.get().unrecorded);
}

std::string Execution::make_uuid() {
  const std::string quoted = record_or_make("uuid", &uuid_text);
  return quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2);
}

std::uint64_t Execution::make_random() {
  const std::string text = record_or_make("random", &number_text);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool Execution::patched(std::string_view id) {
  require(check_id("patch id", id));
  auto& patches = rare_.get().patches;
  const auto known = patches.find(id);
  if (known != patches.end()) return known->second;
  check_read_only();
  if (stopped()) return false;
  record_pending_call();
  const HistoryEvent* next = journal_.peek();
  const bool marked =
      journal_.is_live() ||
      (next != nullptr && next->kind == EventKind::kPatchMarked && next->name == id);
  if (marked) {
    HistoryEvent event;
    event.kind = EventKind::kPatchMarked;
    event.name = std::string(id);
    record_command(std::move(event));
  }
  patches.emplace(std::string(id), marked);
  return marked;
}

void Execution::set_custom_status(std::string status) {
  check_read_only();
  if (stopped()) return;
  HistoryEvent event;
  event.kind = EventKind::kCustomStatusSet;
  event.payload = status;
  if (!record_command(std::move(event))) return;
  if (mode_ == Mode::kLive) decisions().custom_status = std::move(status);
}

void Execution::log(int level, std::string line) {
  if (mode_ == Mode::kLive) scratch_.get().log.push_back({level, std::move(line)});
}

}  // namespace perdure::replay
