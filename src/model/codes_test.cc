#include "model/codes.h"

#include "model/code_tables_test.h"
#include "model/event.h"
#include "model/message.h"
#include "model/request.h"
#include "model/status.h"
#include "model/work_item.h"

namespace perdure {
namespace {

using ModelEnums = testing::Types<EventKind,
                                  MessageKind,
                                  ExecutionStatus,
                                  ClosePolicy,
                                  BlockedReason,
                                  WorkState,
                                  OnCancel,
                                  OwnerKind,
                                  RequestKind,
                                  RequestStage,
                                  ChangeKind>;
INSTANTIATE_TYPED_TEST_SUITE_P(Model, CodeTables, ModelEnums, EnumNames);

enum class NotStored : std::uint8_t { kValue = 1 };
static_assert(StoredCode<EventKind>);
static_assert(!StoredCode<NotStored>, "an enum without a table must not be stored by accident");
static_assert(code(ExecutionStatus::kCanceling) == 4);

}  // namespace
}  // namespace perdure
