#include <perdure/client.h>
#include <perdure/testing.h>

#include "tests/compile/order.h"

// What a client or a test gives has the type that the contract names, as inside an orchestration.
// Temporaries and braces are fine here: nothing is awaited.
namespace perdure::test {

inline constexpr Event<void> departed{"departed"};

void client_starts_with_another_type(const Client& client) {
#ifdef BAD_client_start_type  // wants: perdure: the input has not the type that the contract names
  client.start(checkout, "a", Receipt{"a"});
#else
  client.start(checkout, "a", Order{"a", 1});
  client.start(checkout, "a", {"a", 1}, {.queue = "gpu"});
#endif
}

void client_starts_with_a_fraction(const Client& client) {
#ifdef BAD_client_start_fraction  // wants: perdure: the input has not the type that the contract
  client.start(counter, "a", 1.5);
#else
  client.start(counter, "a", short{1});
#endif
}

void client_starts_without_the_input(const Client& client) {
  const StartOptions options;
#ifdef BAD_client_start_options  // wants: perdure: the input has not the type that the contract
  client.start(counter, "a", options);
#else
  client.start(counter, "a", 1, options);
#endif
}

void client_raises_a_text(const Client& client) {
#ifdef BAD_client_event_text  // wants: perdure: the payload has not the type that the contract names
  client.raise_event("a", approved, "off");
#else
  client.raise_event("a", approved, false, {.delay = 1h});
#endif
}

void client_raises_without_the_payload(const Client& client) {
  RaiseOptions options;
#ifdef BAD_client_event_options  // wants: perdure: the payload has not the type that the contract
  client.raise_event("a", approved, options);
#else
  client.raise_event("a", departed, options);
#endif
}

void test_starts_with_another_type(testing::TestRuntime& runtime) {
#ifdef BAD_test_start_type  // wants: perdure: the input has not the type that the contract names
  runtime.start(checkout, "a", Receipt{"a"});
#else
  runtime.start(checkout, "a", Order{"a", 1});
  runtime.start(checkout, "a", {"a", 1}, {.queue = "gpu"});
#endif
}

void test_starts_with_a_fraction(testing::TestRuntime& runtime) {
#ifdef BAD_test_start_fraction  // wants: perdure: the input has not the type that the contract
  runtime.start(counter, "a", 1.5);
#else
  runtime.start(counter, "a", short{1});
#endif
}

void test_raises_a_text(testing::TestRuntime& runtime) {
#ifdef BAD_test_event_text  // wants: perdure: the payload has not the type that the contract names
  runtime.raise_event("a", approved, "off");
#else
  runtime.raise_event("a", approved, false, 1h);
#endif
}

void test_raises_without_the_payload(testing::TestRuntime& runtime) {
#ifdef BAD_test_event_delay  // wants: perdure: the payload has not the type that the contract names
  runtime.raise_event("a", approved, 1h);
#else
  runtime.raise_event("a", departed, 1h);
#endif
}

}  // namespace perdure::test
