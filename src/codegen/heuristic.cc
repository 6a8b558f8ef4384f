// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/choices.h"

namespace understudy {

ChoiceList HeuristicChoices(const UOpRef&, const Target&) { return {}; }

}  // namespace understudy
