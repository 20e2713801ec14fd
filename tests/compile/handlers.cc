#include "tests/compile/order.h"

// Handlers take and give what their contracts name; an orchestration captures nothing.
namespace perdure::test {
namespace {

[[maybe_unused]] Task<int> takes_text(OrchestrationContext&, std::string) {
  co_return 1;
}
[[maybe_unused]] Task<std::string> gives_text(OrchestrationContext&, int) {
  co_return "one";
}
[[maybe_unused]] int no_coroutine(OrchestrationContext&, int value) {
  return value;
}
[[maybe_unused]] Task<int> takes_reference(OrchestrationContext&, const int& value) {
  co_return value;
}
Task<int> good_main(OrchestrationContext&, int value) {
  co_return value;
}

}  // namespace

void add_activities(Registry& registry) {
#ifdef BAD_activity_result  // wants: its handler takes or gives another type
  registry.add(twice, [](int value) { return std::to_string(value); });
#else
  registry.add(twice, [](int value) { return 2 * value; });
#endif

#ifdef BAD_activity_fraction  // wants: its handler takes or gives another type
  registry.add(count, [] { return 1.5; });
#else
  registry.add(count, [](ActivityContext& ctx) { return ctx.attempt(); });
#endif

#ifdef BAD_activity_parameter  // wants: its handler takes or gives another type
  registry.add(charge, [](ActivityContext&, Receipt receipt) { return receipt; });
#else
  registry.add(charge, [](ActivityContext&, Order order) { return Receipt{order.id}; });
#endif

#ifdef BAD_activity_unused_result  // wants: its handler takes or gives another type
  registry.add(refund, [](Receipt receipt) { return receipt.id.empty(); });
#else
  registry.add(refund, [](Receipt) {});
#endif
}

void add_orchestrations(Registry& registry) {
#ifdef BAD_main_input  // wants: perdure: main takes or gives another type than its contract
  registry.add(counter, takes_text);
#else
  registry.add(counter, good_main);
#endif

#ifdef BAD_main_result  // wants: perdure: main takes or gives another type than its contract
  registry.add(counter, gives_text, "2");
#else
  registry.add(counter, good_main, "2");
#endif

#ifdef BAD_main_reference  // wants: perdure: an orchestration takes its input by value
  registry.add(counter, takes_reference, "5");
#else
  registry.add(counter, good_main, "5");
#endif

#ifdef BAD_main_no_task  // wants: perdure: main is called as Task<R>(OrchestrationContext&, A)
  registry.add(counter, no_coroutine, "3");
#else
  registry.add(counter, good_main, "3");
#endif

  [[maybe_unused]] int captured = 1;
#ifdef BAD_main_captures  // wants: perdure: an orchestration must not capture
  registry.add(
      counter,
      [captured](OrchestrationContext&, int value) -> Task<int> { co_return value + captured; },
      "4");
#else
  registry.add(
      counter, [](OrchestrationContext&, int value) -> Task<int> { co_return value; }, "4");
#endif
}

#ifdef BAD_contract_of_two  // wants: perdure: a contract is R() or R(A)
[[maybe_unused]] constexpr Activity<int(int, int)> sum{"sum"};
#else
[[maybe_unused]] constexpr Activity<int(std::pair<int, int>)> sum{"sum"};
#endif

}  // namespace perdure::test
