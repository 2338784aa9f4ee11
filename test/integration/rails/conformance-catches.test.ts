/** The suite is tested too: each of these rails breaks one promise, and the suite must catch it. */
import { describe, expect, test } from "vitest";
import { casesFor, runCase } from "../../../src/contract/conformance/suite.ts";
import type { ConformancePlan, RailHarness } from "../../../src/contract/conformance/suite.ts";
import type { Rail, RailOutcome } from "../../../src/contract/rail.ts";
import { mailboxPlan } from "./email/mailbox-harness.ts";
import { tablePlan } from "./table/table-harness.ts";
import { openWebhookSandbox } from "./webhook/webhook-harness.ts";

const webhookPlan: ConformancePlan = { capability: "idempotent", open: () => openWebhookSandbox() };

interface Flaw {
  readonly does: string;
  readonly plan: ConformancePlan;
  readonly change: (rail: Rail) => Rail;
  /** The beginnings of the titles of cases that must fail. */
  readonly caughtBy: string;
}

/** A rail that does everything right and then returns something else. */
function saying(rail: Rail, change: (outcome: RailOutcome) => unknown): Rail {
  const send = async (...call: Parameters<Rail["send"]>): Promise<RailOutcome> => {
    const said: RailOutcome = JSON.parse(JSON.stringify(change(await rail.send(...call))));
    return said;
  };
  return { ...rail, send };
}

const flaws: readonly Flaw[] = [
  {
    does: "returns null",
    plan: tablePlan,
    change: (rail) => saying(rail, () => null),
    caughtBy: "delivers a message once",
  },
  {
    does: "throws when the receiver misbehaves",
    plan: tablePlan,
    change: (rail) =>
      saying(rail, (outcome) => {
        if (outcome.kind === "unknown") throw new Error("unexpected end of input");
        return outcome;
      }),
    caughtBy: "does not deny an effect that happened",
  },
  {
    does: "treats a dropped connection as a failure that can be retried",
    plan: webhookPlan,
    change: (rail) => saying(rail, (outcome) => (outcome.kind === "unknown" ? { ...outcome, kind: "retry" } : outcome)),
    caughtBy: "does not deny an effect that happened (drop_after_accept)",
  },
  {
    does: "treats a failure as a success",
    plan: webhookPlan,
    change: (rail) => saying(rail, (outcome) => (outcome.kind === "unknown" ? { kind: "delivered" } : outcome)),
    caughtBy: "claims neither success nor refusal when the receiver fails",
  },
  {
    does: "treats a failing server's answer as proof",
    plan: webhookPlan,
    change: (rail) =>
      saying(rail, (outcome) =>
        outcome.kind === "unknown" && outcome.code === "http_5xx" ? { ...outcome, kind: "retry" } : outcome,
      ),
    caughtBy: "does not deny an effect that happened (fail_after_accept)",
  },
  {
    does: "uses a code that it did not declare",
    plan: tablePlan,
    change: (rail) => saying(rail, (outcome) => ("reason" in outcome ? { ...outcome, code: "oops" } : outcome)),
    caughtBy: "rejects what the receiver refuses",
  },
  {
    does: "forgets how long it should wait",
    plan: webhookPlan,
    change: (rail) =>
      saying(rail, (outcome) => (outcome.kind === "retry" ? { ...outcome, afterMs: undefined } : outcome)),
    caughtBy: "waits as long as a throttling receiver asks",
  },
  {
    does: "calls although its time has run out",
    plan: tablePlan,
    change: (rail) => ({ ...rail, send: (message) => rail.send(message, { signal: new AbortController().signal }) }),
    caughtBy: "calls nobody once its time is up",
  },
  {
    does: "continues when its time has run out",
    plan: tablePlan,
    change: (rail) => ({
      ...rail,
      send: (message, { signal }) =>
        rail.send(message, { signal: signal.aborted ? signal : new AbortController().signal }),
    }),
    caughtBy: "gives up a hanging call",
  },
  {
    does: "makes a new key for each try",
    plan: webhookPlan,
    change: (rail) => ({
      ...rail,
      send: (message, context) =>
        rail.send({ ...message, outboxId: message.tryNo === 1 ? message.outboxId : `${message.outboxId}-2` }, context),
    }),
    caughtBy: "has one effect for one idempotency key",
  },
  {
    does: "modifies the message",
    plan: tablePlan,
    change: (rail) => ({
      ...rail,
      send: (message, context) => rail.send(Object.assign(message, { tryNo: 0 }), context),
    }),
    caughtBy: "delivers a message once",
  },
  {
    does: "accepts any payload although it claims to check",
    plan: webhookPlan,
    change: (rail) => ({ ...rail, validate: () => ({ ok: true }) }),
    caughtBy: "validates payloads before any call",
  },
  {
    does: "answers a lookup that it cannot make with absent",
    plan: mailboxPlan,
    change: (rail) => ({
      ...rail,
      lookup: async (...call) => {
        const found = await rail.lookup?.(...call);
        return found === undefined || found.kind === "unavailable" ? { kind: "absent" } : found;
      },
    }),
    caughtBy: "never takes a receiver that cannot be asked",
  },
  {
    does: "declares no codes",
    plan: tablePlan,
    change: ({ codes: _codes, ...rail }) => rail,
    caughtBy: "keeps the rules of the registry",
  },
];

/** The titles of the cases that a changed rail fails. */
async function failuresOf({ plan, change }: Flaw): Promise<string[]> {
  const open = async (): Promise<RailHarness> => {
    const harness = await plan.open();
    // A stuck rail is stuck forever; there is no need to wait as long as for an honest one.
    return { ...harness, rail: change(harness.rail), patienceMs: 500 };
  };
  const failed: string[] = [];
  for (const each of casesFor(plan)) {
    await runCase({ ...plan, open }, each).catch(() => failed.push(each.title));
  }
  return failed;
}

describe("the conformance suite catches a rail that", () => {
  test.each(flaws)("$does", async (flaw) => {
    const failed = await failuresOf(flaw);
    expect(failed.filter((title) => title.startsWith(flaw.caughtBy))).not.toEqual([]);
  });

  test("repeats what the receiver echoes", async () => {
    const harness = await openWebhookSandbox();
    const leak = (outcome: RailOutcome): unknown =>
      "reason" in outcome ? { ...outcome, reason: `HTTP 400: ${harness.secrets[0] ?? ""}` } : outcome;
    const plan: ConformancePlan = {
      ...webhookPlan,
      open: () => ({ ...harness, rail: saying(harness.rail, leak) }),
    };
    const [echo] = casesFor(plan).filter(({ title }) => title.startsWith("repeats no secret"));
    expect(echo).toBeDefined();
    if (echo !== undefined) await expect(runCase(plan, echo)).rejects.toThrow("must not repeat a secret");
  });
});
