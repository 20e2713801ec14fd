#include <perdure/client.h>
#include <perdure/testing.h>

#include "tests/compile/order.h"

// What a client or a test tells and asks a run has the type that the contract names.
namespace perdure::test {

inline constexpr Signal<Order> restock{"restock"};
inline constexpr Update<int(Order)> reserve{"reserve"};
inline constexpr Query<int(int)> stock_above{"stock_above"};

void client_signals_another_type(const Client& client) {
#ifdef BAD_client_signal_type  // wants: perdure: the payload has not the type that the contract
  client.signal("a", restock, Receipt{"a"});
#else
  client.signal("a", restock, Order{"a", 1});
  client.signal("a", restock, {"a", 1}, {.delay = 1h});
#endif
}

void client_updates_with_another_type(const Client& client) {
#ifdef BAD_client_update_type  // wants: perdure: the input has not the type that the contract names
  client.update("a", reserve, Receipt{"a"});
#else
  client.update("a", reserve, Order{"a", 1});
#endif
}

void client_starts_an_update_with_another_type(const Client& client) {
#ifdef BAD_client_start_update_type  // wants: perdure: the input has not the type that the contract
  client.start_update("a", reserve, 1);
#else
  client.start_update("a", reserve, {"a", 1}, {.update_id = "u"});
#endif
}

void client_queries_with_a_fraction(const Client& client) {
#ifdef BAD_client_query_fraction  // wants: perdure: the input has not the type that the contract
  client.query("a", stock_above, 1.5);
#else
  client.query("a", stock_above, short{1});
#endif
}

void client_signals_with_start(const Client& client) {
#ifdef BAD_client_signal_with_start_type  // wants: perdure: the payload has not the type that the
  client.signal_with_start(counter, "a", 1, restock, Receipt{"a"});
#else
  client.signal_with_start(counter, "a", 1, restock, Order{"a", 1});
#endif
#ifdef BAD_client_signal_with_start_input  // wants: perdure: the input has not the type that the
  client.signal_with_start(checkout, "a", Receipt{"a"}, restock, Order{"a", 1});
#else
  client.signal_with_start(checkout, "a", Order{"a", 1}, restock, Order{"a", 1});
#endif
}

void client_updates_with_start(const Client& client) {
#ifdef BAD_client_update_with_start_type  // wants: perdure: the input has not the type that the
  client.update_with_start(counter, "a", 1, reserve, Receipt{"a"});
#else
  client.update_with_start(counter, "a", 1, reserve, Order{"a", 1});
#endif
#ifdef BAD_client_update_with_start_input  // wants: perdure: the input has not the type that the
  client.update_with_start(counter, "a", 1.5, reserve, Order{"a", 1});
#else
  client.update_with_start(counter, "a", short{1}, reserve, Order{"a", 1});
#endif
}

void test_signals_another_type(testing::TestRuntime& runtime) {
#ifdef BAD_test_signal_type  // wants: perdure: the payload has not the type that the contract names
  runtime.signal("a", restock, Receipt{"a"});
#else
  runtime.signal("a", restock, Order{"a", 1});
#endif
}

void test_signals_with_start(testing::TestRuntime& runtime) {
#ifdef BAD_test_signal_with_start_type  // wants: perdure: the payload has not the type that the
  runtime.signal_with_start(counter, "a", 1, restock, Receipt{"a"});
#else
  runtime.signal_with_start(counter, "a", 1, restock, Order{"a", 1});
#endif
#ifdef BAD_test_signal_with_start_input  // wants: perdure: the input has not the type that the
  runtime.signal_with_start(checkout, "a", Receipt{"a"}, restock, Order{"a", 1});
#else
  runtime.signal_with_start(checkout, "a", Order{"a", 1}, restock, Order{"a", 1});
#endif
}

void test_updates_with_another_type(testing::TestRuntime& runtime) {
#ifdef BAD_test_update_type  // wants: perdure: the input has not the type that the contract names
  runtime.update("a", reserve, Receipt{"a"});
#else
  runtime.update("a", reserve, Order{"a", 1});
#endif
}

void test_starts_an_update_with_another_type(testing::TestRuntime& runtime) {
#ifdef BAD_test_start_update_type  // wants: perdure: the input has not the type that the contract
  runtime.start_update("a", reserve, 1);
#else
  runtime.start_update("a", reserve, Order{"a", 1}, "u");
#endif
}

void test_queries_with_a_fraction(testing::TestRuntime& runtime) {
#ifdef BAD_test_query_fraction  // wants: perdure: the input has not the type that the contract
  runtime.query("a", stock_above, 1.5);
#else
  runtime.query("a", stock_above, short{1});
#endif
}

}  // namespace perdure::test
