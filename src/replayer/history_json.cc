#include "replayer/history_json.h"

#include <set>

#include <nlohmann/json.hpp>

#include <perdure/detail/json_check.h>
#include <perdure/errors.h>

namespace perdure::replayer {

namespace {

// Keeps the order of keys, so that payloads come back as they were.
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "perdure-history";
constexpr int kFormatVersion = 1;

// --- Writing.

void put_text(Json& out, const char* field, const std::string& text) {
  if (!text.empty()) out[field] = text;
}

/// As a JSON value where that gives back the very same text, else as a text.
void put_payload(Json& out, const std::string& payload) {
  if (payload.empty()) return;
  if (detail::depth_of(payload) <= detail::kMaxJsonDepth) {
    Json value = Json::parse(payload, nullptr, false);
    if (!value.is_discarded() && value.dump() == payload) {
      out["payload"] = std::move(value);
      return;
    }
  }
  out["payload_text"] = payload;
}

Json failure_json(const Failure& failure) {
  Json out = Json::object();
  put_text(out, "type", failure.type);
  put_text(out, "message", failure.message);
  out["retryable"] = failure.retryable;
  put_text(out, "details", failure.details);
  return out;
}

Json event_json(const HistoryEvent& event) {
  Json out = Json::object();
  out["id"] = event.id.value;
  out["kind"] = to_string(event.kind);
  out["at"] = to_micros(event.at);
  if (event.source != EventId{}) out["source"] = event.source.value;
  put_text(out, "name", event.name);
  put_payload(out, event.payload);
  put_text(out, "text", event.text);
  if (event.number != 0) out["number"] = event.number;
  if (event.failure != Failure{}) out["failure"] = failure_json(event.failure);
  return out;
}

std::string line_of(const Json& json, const std::string& where) {
  try {
    return json.dump();
  } catch (const Json::exception&) {
    throw InvalidArgument("history: " + where + ": a text is not valid UTF-8");
  }
}

// --- Reading.

/// The fields of one object; each is asked for once, and none may be left over.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("", "wants an object");
  }

  [[noreturn]] void refuse(std::string_view field, std::string_view why) const {
    throw InvalidArgument("history: " + where_ +
                          (field.empty() ? "" : "field '" + std::string(field) + "': ") +
                          std::string(why));
  }
  const Json* find(const char* field) {
    seen_.insert(field);
    const auto found = object_.find(field);
    return found == object_.end() ? nullptr : &*found;
  }
  const Json& get(const char* field) {
    const Json* found = find(field);
    if (found == nullptr) refuse(field, "it is missing");
    return *found;
  }
  std::string text(const char* field) { return as_text(field, get(field)); }
  std::string text_or_empty(const char* field) {
    const Json* found = find(field);
    return found == nullptr ? "" : as_text(field, *found);
  }
  std::int64_t integer(const char* field) { return as_integer(field, get(field)); }
  std::int64_t integer_or_zero(const char* field) {
    const Json* found = find(field);
    return found == nullptr ? 0 : as_integer(field, *found);
  }
  bool boolean(const char* field) {
    const Json& value = get(field);
    if (!value.is_boolean()) refuse(field, "wants true or false");
    return value.get<bool>();
  }
  void finish() const {
    for (const auto& [field, value] : object_.items()) {
      if (!seen_.contains(field)) refuse(field, "there is no such field");
    }
  }
  const std::string& where() const { return where_; }

 private:
  std::string as_text(const char* field, const Json& value) const {
    if (!value.is_string()) refuse(field, "wants a text");
    return value.get<std::string>();
  }
  std::int64_t as_integer(const char* field, const Json& value) const {
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
    if (!fits) refuse(field, "wants an integer of 64 bits");
    return value.get<std::int64_t>();
  }

  const Json& object_;
  std::string where_;
  std::set<std::string> seen_;
};

Failure read_failure(const Json& json, const std::string& where) {
  Fields fields(json, where + "failure: ");
  Failure failure;
  failure.type = fields.text_or_empty("type");
  failure.message = fields.text_or_empty("message");
  failure.retryable = fields.boolean("retryable");
  failure.details = fields.text_or_empty("details");
  fields.finish();
  return failure;
}

HistoryEvent read_event(const Json& json, std::int64_t position) {
  Fields fields(json, "event " + std::to_string(position) + ": ");
  HistoryEvent event;
  event.id = EventId{fields.integer("id")};
  if (event.id.value != position) {
    fields.refuse("id",
                  "ids count 1, 2, 3 .. without gaps, but it is " + std::to_string(event.id.value));
  }
  const std::string kind = fields.text("kind");
  const auto known = from_name<EventKind>(kind);
  if (!known) fields.refuse("kind", "'" + kind + "' is no kind of event of this version");
  event.kind = *known;
  if ((event.kind == EventKind::kStarted) != (position == 1)) {
    fields.refuse("kind", "the first event, and no other, is 'started'");
  }
  event.at = time_from_micros(fields.integer("at"));
  event.source = EventId{fields.integer_or_zero("source")};
  // `started` tells where the execution before has ended.
  const bool earlier = event.source.value < position || event.kind == EventKind::kStarted;
  if (event.source.value < 0 || !earlier) {
    fields.refuse("source", "it must be the id of an earlier event");
  }
  event.name = fields.text_or_empty("name");
  const Json* payload = fields.find("payload");
  event.payload = fields.text_or_empty("payload_text");
  if (payload != nullptr) {
    if (!event.payload.empty()) fields.refuse("payload", "'payload_text' stands beside it");
    event.payload = payload->dump();
  }
  event.text = fields.text_or_empty("text");
  event.number = fields.integer_or_zero("number");
  if (const Json* failure = fields.find("failure")) {
    event.failure = read_failure(*failure, fields.where());
  }
  fields.finish();
  return event;
}

Json parse(std::string_view text) {
  // A payload keeps its own limit inside an event, which lies three levels deep.
  if (detail::depth_of(text) > detail::kMaxJsonDepth + 3) {
    throw InvalidArgument("history: nested too deep");
  }
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw InvalidArgument("history: not JSON: " + detail::reason_of(error));
  }
}

}  // namespace

std::string to_history_json(const RecordedHistory& history) {
  Json head = Json::object();
  head["format"] = kFormat;
  head["format_version"] = kFormatVersion;
  head["orchestration"] = history.name;
  put_text(head, "version", history.version);
  head["instance_id"] = history.instance_id;
  head["execution"] = history.execution.value;
  head["queue"] = history.queue;
  head["had_turn"] = history.had_turn;
  std::string text = "{\n";
  for (const auto& [field, value] : head.items()) {
    text += " " + Json(field).dump() + ": " + line_of(value, "field '" + field + "'") + ",\n";
  }
  text += " \"events\": [";
  const char* separator = "\n  ";
  for (const HistoryEvent& event : history.events) {
    text += separator;
    text += line_of(event_json(event), "event " + std::to_string(event.id.value));
    separator = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

RecordedHistory from_history_json(std::string_view text) {
  const Json json = parse(text);
  Fields fields(json, "");
  if (fields.text("format") != kFormat) {
    fields.refuse("format", std::string("it must be '") + kFormat + "'");
  }
  if (fields.integer("format_version") != kFormatVersion) {
    fields.refuse("format_version",
                  "this version of Perdure reads " + std::to_string(kFormatVersion));
  }
  RecordedHistory history;
  history.name = fields.text("orchestration");
  history.version = fields.text_or_empty("version");
  history.instance_id = fields.text("instance_id");
  history.execution = ExecutionNo{fields.integer("execution")};
  history.queue = fields.text("queue");
  history.had_turn = fields.boolean("had_turn");
  const Json& events = fields.get("events");
  if (!events.is_array() || events.empty()) {
    fields.refuse("events", "wants an array with at least the event 'started'");
  }
  fields.finish();
  for (const Json& event : events) {
    history.events.push_back(read_event(event, std::int64_t(history.events.size()) + 1));
  }
  if (history.events.front().name != history.name) {
    throw InvalidArgument("history: event 1: field 'name': it is '" + history.events.front().name +
                          "', but the history is one of '" + history.name + "'");
  }
  return history;
}

}  // namespace perdure::replayer
