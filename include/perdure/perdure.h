#pragma once

/// Everything a program needs.
#include <perdure/activity_context.h>
#include <perdure/client.h>
#include <perdure/contracts.h>
#include <perdure/errors.h>
#include <perdure/future.h>
#include <perdure/handler_options.h>
#include <perdure/isolation.h>
#include <perdure/json.h>
#include <perdure/message_options.h>
#include <perdure/messages.h>
#include <perdure/open.h>
#include <perdure/options.h>
#include <perdure/orchestration_context.h>
#include <perdure/outcome.h>
#include <perdure/registry.h>
#include <perdure/runtime.h>
#include <perdure/status.h>
#include <perdure/task.h>
#include <perdure/version.h>
#include <perdure/when.h>
