import { describe, test } from "vitest";
import { railConformance } from "../../../src/rails/conformance.ts";
import { openProvider } from "./provider-harness.ts";
import { slackInteractionPlan, slackPlan } from "./provider-plans.ts";

railConformance("slack", { capability: "lookup", open: () => openProvider(slackPlan) }, { describe, test });
railConformance(
  "slack-interaction",
  { capability: "blind", open: () => openProvider(slackInteractionPlan) },
  { describe, test },
);
