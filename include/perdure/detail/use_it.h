#pragma once

/// A class whose values must not be ignored, with what to do in place of it.
#define PERDURE_DETAIL_USE_IT(what_to_do) [[nodiscard("perdure: " what_to_do)]]
