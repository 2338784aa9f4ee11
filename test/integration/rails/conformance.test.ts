import { describe, test } from "vitest";
import { railConformance } from "../../../src/contract/conformance/suite.ts";
import { mailboxPlan } from "./email/mailbox-harness.ts";
import { tablePlan } from "./table/table-harness.ts";
import { openWebhookSandbox } from "./webhook/webhook-harness.ts";

railConformance("webhook", { capability: "idempotent", open: () => openWebhookSandbox() }, { describe, test });
railConformance("table", tablePlan, { describe, test });
railConformance("of the mailbox (a lookup rail)", mailboxPlan, { describe, test });
