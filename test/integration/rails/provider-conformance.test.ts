import { describe, test } from "vitest";
import { railConformance } from "../../../src/contract/conformance/suite.ts";
import { openProvider } from "./harness.ts";
import {
  githubDispatchPlan,
  githubStopPlan,
  githubWatchPlan,
  linearPlan,
  postalPlan,
  slackInteractionPlan,
  slackPlan,
  slackWebhookPlan,
} from "./provider-plans.ts";
import { openSmtpSandbox } from "./email/smtp-harness.ts";

railConformance("slack", { capability: "lookup", open: () => openProvider(slackPlan) }, { describe, test });
railConformance(
  "slack-interaction",
  {
    capability: "blind",
    open: () => openProvider(slackInteractionPlan),
    notApplicable: { fail_after_accept: "a note that one person sees for a moment is better shown twice than never" },
  },
  { describe, test },
);
railConformance(
  "slack-webhook",
  { capability: "blind", open: () => openProvider(slackWebhookPlan) },
  { describe, test },
);
railConformance(
  "email by SMTP",
  {
    capability: "blind",
    open: openSmtpSandbox,
    notApplicable: {
      throttle: "SMTP has no way to ask for a certain time of quiet",
      fail_after_accept: "a reply other than 2xx to the end of the content says that the mail was not taken over",
    },
  },
  { describe, test },
);
railConformance("email by Postal", { capability: "blind", open: () => openProvider(postalPlan) }, { describe, test });
railConformance("linear", { capability: "lookup", open: () => openProvider(linearPlan) }, { describe, test });
railConformance(
  "github-actions, starting a run,",
  { capability: "lookup", open: () => openProvider(githubDispatchPlan) },
  { describe, test },
);
railConformance(
  "github-actions, stopping a run,",
  { capability: "lookup", open: () => openProvider(githubStopPlan()) },
  { describe, test },
);
for (const method of ["getRun", "listRuns"] as const) {
  railConformance(
    `github-actions, watching by ${method},`,
    {
      capability: "lookup",
      open: () => openProvider(githubWatchPlan(method)),
      // Cases that are left out here, except lookups, are in github-actions-answers.test.ts.
      notApplicable: {
        drop_after_accept: "a question may be asked again, so that a lookup need not find it",
        unreachable: "and asks nobody",
      },
    },
    { describe, test },
  );
}
