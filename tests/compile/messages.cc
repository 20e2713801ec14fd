#include "tests/compile/order.h"

// Handlers of messages take and give what their contracts name, and capture nothing.
namespace perdure::test {
namespace {

struct Progress {
  std::string stage;
  int notes = 0;
};
struct Other {
  int value = 0;
};

constexpr Signal<std::string> wrap{"wrap"};
constexpr Update<int(std::string)> add_note{"add_note"};
constexpr Query<std::string()> stage_of{"stage_of"};
constexpr Query<int(int)> notes_above{"notes_above"};

Task<int> main_with_state(OrchestrationContext&, int value, Progress&) {
  co_return value;
}
[[maybe_unused]] Task<int> durable_by_reference(OrchestrationContext&,
                                                Progress&,
                                                const std::string& note) {
  co_return static_cast<int>(note.size());
}
[[maybe_unused]] Task<int> durable_by_value(OrchestrationContext&, Progress&, std::string note) {
  co_return static_cast<int>(note.size());
}

}  // namespace

void add_signals(Registry& registry) {
  auto messages = registry.add(counter, main_with_state, "1");
  [[maybe_unused]] const std::string captured = "a";
#ifdef BAD_signal_captures  // wants: must not capture: its frames outlive the closure
  messages.signal(wrap, [captured](Progress& p, std::string paper) { p.stage = paper + captured; });
#else
  messages.signal(wrap, [](Progress& p, std::string paper) { p.stage = paper; });
#endif

  auto others = registry.add(counter, main_with_state, "2");
#ifdef BAD_signal_payload  // wants: perdure: the handler takes or gives another type than
  others.signal(wrap, [](Progress& p, int notes) { p.notes = notes; });
#else
  others.signal(wrap, [](Progress& p, const std::string& paper) { p.stage = paper; });
#endif

  auto more = registry.add(counter, main_with_state, "3");
#ifdef BAD_signal_result  // wants: perdure: the handler takes or gives another type than
  more.signal(wrap, [](Progress& p, std::string) { return p.notes; });
#else
  more.signal(wrap, [](Progress& p, std::string) { ++p.notes; });
#endif

  auto last = registry.add(counter, main_with_state, "4");
#ifdef BAD_signal_shape  // wants: perdure: a handler is called as R(State&, A)
  last.signal(wrap, [](std::string) {});
#else
  last.signal(wrap, [](Progress&, std::string) {});
#endif
}

void add_updates(Registry& registry) {
  auto messages = registry.add(counter, main_with_state, "1");
  [[maybe_unused]] const int captured = 1;
#ifdef BAD_update_captures  // wants: must not capture: its frames outlive the closure
  messages.update(add_note, [captured](Progress& p, std::string) { return p.notes + captured; });
#else
  messages.update(add_note, [](Progress& p, std::string) { return ++p.notes; });
#endif

  auto others = registry.add(counter, main_with_state, "2");
#ifdef BAD_update_result  // wants: perdure: the handler takes or gives another type than
  others.update(add_note, [](Progress& p, std::string) { return p.stage; });
#else
  others.update(add_note,
                [](Progress&, std::string note) { return static_cast<int>(note.size()); });
#endif

  auto more = registry.add(counter, main_with_state, "3");
#ifdef BAD_update_reference  // wants: perdure: a handler with durable steps takes its input
  more.update(add_note, durable_by_reference);
#else
  more.update(add_note, durable_by_value);
#endif

  auto states = registry.add(counter, main_with_state, "4");
#ifdef BAD_update_state  // wants: perdure: handlers and main take the same state object
  states.update(add_note, [](Other& other, std::string) { return other.value; });
#else
  states.update(add_note, [](Progress& p, std::string) { return p.notes; });
#endif

  auto checked = registry.add(counter, main_with_state, "5");
  const auto handler = [](Progress& p, std::string) { return ++p.notes; };
#ifdef BAD_validator_writes  // wants: perdure: a validator reads
  checked.update(add_note, handler, [](Progress& p, const std::string&) { ++p.notes; });
#else
  checked.update(add_note, handler, [](const Progress&, const std::string&) {});
#endif

  auto other_input = registry.add(counter, main_with_state, "6");
#ifdef BAD_validator_input  // wants: perdure: the handler takes or gives another type than
  other_input.update(add_note, handler, [](const Progress&, const int&) {});
#else
  other_input.update(add_note, handler, [](const Progress&, std::string) {});
#endif
}

void add_queries(Registry& registry) {
  auto messages = registry.add(counter, main_with_state, "1");
#ifdef BAD_query_writes  // wants: perdure: a query reads
  messages.query(stage_of, [](Progress& p) { return p.stage; });
#else
  messages.query(stage_of, [](const Progress& p) { return p.stage; });
#endif

  auto others = registry.add(counter, main_with_state, "2");
#ifdef BAD_query_result  // wants: perdure: the handler takes or gives another type than
  others.query(stage_of, [](const Progress& p) { return p.notes; });
#else
  others.query(stage_of, [](const Progress&) { return std::string("one"); });
#endif

  auto more = registry.add(counter, main_with_state, "3");
#ifdef BAD_query_input  // wants: perdure: the handler takes or gives another type than
  more.query(notes_above, [](const Progress& p) { return p.notes; });
#else
  more.query(notes_above, [](const Progress& p, int than) { return p.notes - than; });
#endif

  auto durable = registry.add(counter, main_with_state, "4");
#ifdef BAD_query_durable  // wants: perdure: a query reads
  durable.query(notes_above, [](OrchestrationContext&, const Progress& p, int than) -> Task<int> {
    co_return p.notes - than;
  });
#else
  durable.query(notes_above, [](const Progress& p, const int& than) { return p.notes - than; });
#endif
}

Task<void> waits(OrchestrationContext& ctx) {
  const std::string wanted = "a";
#ifdef BAD_condition_owns  // wants: perdure: name this value on the line before and pass the name
  co_await ctx.until([wanted] { return wanted.empty(); });
#else
  co_await ctx.until([&] { return wanted.empty(); });
#endif

#ifdef BAD_condition_result  // wants: perdure: a condition is called as bool()
  co_await ctx.until([&] { return wanted.size(); });
#else
  co_await ctx.until([&] { return !wanted.empty(); });
#endif
}

}  // namespace perdure::test
