import { describe, test } from "vitest";
import { railConformance } from "../../../src/rails/conformance.ts";
import { openProvider } from "./provider-harness.ts";
import { slackInteractionPlan, slackPlan } from "./provider-plans.ts";
import { openSmtpSandbox } from "./smtp-harness.ts";

railConformance("slack", { capability: "lookup", open: () => openProvider(slackPlan) }, { describe, test });
railConformance(
  "slack-interaction",
  { capability: "blind", open: () => openProvider(slackInteractionPlan) },
  { describe, test },
);
railConformance(
  "email by SMTP",
  {
    capability: "blind",
    open: openSmtpSandbox,
    notApplicable: { throttle: "SMTP has no way to ask for a certain time of quiet" },
  },
  { describe, test },
);
