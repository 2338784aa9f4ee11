/**
 * The cases of the conformance suite.
 *
 * Owns: the expectations. They say what an outcome may claim given what the sandbox really did: "retry" and "rejected"
 * claim that nothing happened, "delivered" that something did, and "unknown" claims nothing.
 */
import assert from "node:assert/strict";
import type { ConformanceCase, RailHarness, SandboxFault } from "./harness.ts";
import { assertLookup, assertOutcome, frozen, within } from "./checks.ts";
import { checkRail } from "../registry.ts";
import type { RailMessage, RailOutcome } from "../rail.ts";

const neverAborted = new AbortController().signal;

/** Sends, and checks the form of the outcome. */
async function send(harness: RailHarness, message: RailMessage, signal = neverAborted): Promise<RailOutcome> {
  const call = async (): Promise<unknown> => await harness.rail.send(frozen(message), { signal });
  return assertOutcome(harness, await within(harness, call(), "an outcome"));
}

/** Sends under a fault and then checks that the outcome's claim about the effect is true. */
async function sendUnder(harness: RailHarness, fault: SandboxFault, message: RailMessage): Promise<RailOutcome> {
  await harness.next(fault);
  return await send(harness, message);
}

/** Starts a call that will not be answered, waits until it has arrived, and then aborts it. */
async function abortUnder(
  harness: RailHarness,
  fault: "hang" | "answer_late",
  message: RailMessage,
): Promise<RailOutcome> {
  await harness.next(fault);
  const clock = new AbortController();
  const outcome = send(harness, message, clock.signal);
  // An outcome before the call has arrived is wrong or an error; either ends the wait.
  await within(harness, Promise.race([harness.received(message), outcome]), "the call to arrive");
  clock.abort(new Error("the time is up"));
  return await outcome;
}

function assertKind(outcome: RailOutcome, kinds: readonly RailOutcome["kind"][], when: string): void {
  assert.ok(kinds.includes(outcome.kind), `${when} must be ${kinds.join(" or ")}, not ${JSON.stringify(outcome)}`);
}

const sendingCases: readonly ConformanceCase[] = [
  {
    title: "keeps the rules of the registry and declares its codes",
    needs: [],
    async run(harness) {
      checkRail(harness.rail);
      assert.ok(harness.rail.codes !== undefined, "a rail must declare its codes");
      await Promise.resolve();
    },
  },
  {
    title: "delivers a message once",
    needs: [],
    async run(harness) {
      const message = harness.message();
      assertKind(await send(harness, message), ["delivered"], "a good answer");
      assert.equal(await harness.effects(message), 1);
    },
  },
  {
    title: "delivers many messages at once, each for itself",
    needs: [],
    async run(harness) {
      const messages = Array.from({ length: 20 }, () => harness.message());
      const outcomes = await Promise.all(messages.map((message) => send(harness, message)));
      for (const outcome of outcomes) assertKind(outcome, ["delivered"], "a good answer");
      for (const message of messages) assert.equal(await harness.effects(message), 1);
    },
  },
  {
    title: "rejects what the receiver refuses",
    needs: ["refuse"],
    async run(harness) {
      const message = harness.message();
      assertKind(await sendUnder(harness, "refuse", message), ["rejected"], "a refusal");
      assert.equal(await harness.effects(message), 0);
    },
  },
  {
    title: "repeats no secret that the receiver echoes",
    needs: ["refuse_echoing"],
    async run(harness) {
      assert.ok(harness.secrets.length > 0, "a harness whose sandbox echoes must name the secrets");
      assertKind(await sendUnder(harness, "refuse_echoing", harness.message()), ["rejected"], "a refusal");
    },
  },
  {
    title: "waits as long as a throttling receiver asks",
    needs: ["throttle"],
    async run(harness) {
      const message = harness.message();
      const outcome = await sendUnder(harness, "throttle", message);
      assert.ok(outcome.kind === "retry", "a receiver that throttles must be tried again");
      assert.equal(outcome.throttled, true, "the destination as a whole must pause");
      assert.equal(outcome.afterMs, harness.throttleAfterMs);
      assert.equal(await harness.effects(message), 0);
    },
  },
  {
    title: "claims neither success nor refusal when the receiver fails",
    needs: ["fail"],
    async run(harness) {
      const message = harness.message();
      // Most receivers may fail after they have accepted, so a failure proves nothing; a database that rolls back does prove it.
      assertKind(await sendUnder(harness, "fail", message), ["retry", "unknown"], "a failure");
      assert.equal(await harness.effects(message), 0);
    },
  },
  {
    title: "validates payloads before any call",
    needs: [],
    async run(harness) {
      const { rail } = harness;
      const invalid = harness.invalidMessages();
      assert.equal(rail.validate === undefined, invalid.length === 0, "validate and invalid messages go together");
      if (rail.validate === undefined) return;
      assert.deepEqual(rail.validate(frozen(harness.message())), { ok: true });
      for (const message of invalid) {
        const verdict = rail.validate(frozen(message));
        assert.ok(!verdict.ok, `this must be refused: ${JSON.stringify(message.payload)}`);
        assert.ok(verdict.reason.length > 0, "a refusal must say why");
        assert.equal(await harness.calls(message), 0);
      }
    },
  },
];

const brokenCases: readonly ConformanceCase[] = [
  {
    title: "calls nobody once its time is up",
    needs: [],
    async run(harness) {
      const message = harness.message();
      const outcome = await send(harness, message, AbortSignal.abort(new Error("the time was up before")));
      assertKind(outcome, ["retry"], "a call that was never made");
      assert.equal(await harness.calls(message), 0);
    },
  },
  {
    title: "retries when the receiver cannot be reached",
    needs: ["unreachable"],
    async run(harness) {
      const message = harness.message();
      assertKind(await sendUnder(harness, "unreachable", message), ["retry"], "a receiver out of reach");
      assert.equal(await harness.calls(message), 0);
    },
  },
  {
    title: "gives up a hanging call as soon as its time is up, and claims nothing about it",
    needs: ["hang"],
    async run(harness) {
      assertKind(await abortUnder(harness, "hang", harness.message()), ["unknown"], "a call without an answer");
    },
  },
  {
    title: "is not confused by an answer that comes too late",
    needs: ["answer_late"],
    async run(harness) {
      const message = harness.message();
      assertKind(await abortUnder(harness, "answer_late", message), ["unknown"], "a call without an answer");
      await harness.release();
      assert.equal(await harness.effects(message), 1);
      const next = harness.message();
      assertKind(await send(harness, next), ["delivered"], "the call after a late answer");
      assert.equal(await harness.effects(next), 1);
    },
  },
  {
    title: "claims neither success nor refusal when the receiver hangs up at once",
    needs: ["close_before_read"],
    async run(harness) {
      const message = harness.message();
      assertKind(await sendUnder(harness, "close_before_read", message), ["unknown", "retry"], "a closed connection");
      assert.equal(await harness.effects(message), 0);
    },
  },
  ...(["fail_after_accept", "drop_after_accept", "close_mid_answer", "garbage"] as const).map(
    (fault): ConformanceCase => ({
      title: `does not deny an effect that happened (${fault})`,
      needs: [fault],
      async run(harness) {
        const message = harness.message();
        const outcome = await sendUnder(harness, fault, message);
        assert.equal(await harness.effects(message), 1, "the sandbox must have had the effect");
        // Delivered is allowed: a rail may have proof, for instance from a status that came before the end.
        assertKind(outcome, ["unknown", "delivered"], "a call that took effect");
      },
    }),
  ),
  ...(
    [
      "refuse",
      "fail",
      "close_before_read",
      "fail_after_accept",
      "drop_after_accept",
      "close_mid_answer",
      "garbage",
    ] as const
  ).map((fault): ConformanceCase => ({
    title: `delivers the next message after ${fault}`,
    needs: [fault],
    async run(harness) {
      await sendUnder(harness, fault, harness.message());
      const next = harness.message();
      assertKind(await send(harness, next), ["delivered"], "the call after a fault");
      assert.equal(await harness.effects(next), 1);
    },
  })),
];

const again = (message: RailMessage): RailMessage => ({ ...message, tryNo: message.tryNo + 1, uncertain: true });

const repeatCases: readonly ConformanceCase[] = [
  {
    title: "has one effect for one idempotency key, however often it is sent",
    needs: [],
    capability: "idempotent",
    async run(harness) {
      const message = harness.message();
      assertKind(await send(harness, message), ["delivered"], "the first call");
      assertKind(await send(harness, again(message)), ["delivered"], "the repeat");
      assert.equal(await harness.effects(message), 1);
    },
  },
  {
    title: "makes an unknown outcome certain by sending again",
    needs: ["drop_after_accept"],
    capability: "idempotent",
    async run(harness) {
      const message = harness.message();
      await sendUnder(harness, "drop_after_accept", message);
      assertKind(await send(harness, again(message)), ["delivered"], "the repeat");
      assert.equal(await harness.effects(message), 1);
    },
  },
  {
    title: "finds what arrived and misses what did not",
    needs: ["drop_after_accept"],
    capability: "lookup",
    async run(harness) {
      const message = harness.message();
      assert.equal((await lookUp(harness, message)).kind, "absent", "nothing was sent yet");
      await sendUnder(harness, "drop_after_accept", message);
      assert.equal((await lookUp(harness, again(message))).kind, "found", "the effect happened");
      assert.equal(await harness.effects(message), 1, "a lookup must not have an effect");
    },
  },
  {
    title: "never takes a receiver that cannot be asked for one that saw nothing",
    needs: ["unreachable"],
    capability: "lookup",
    async run(harness) {
      await harness.next("unreachable");
      assert.equal((await lookUp(harness, harness.message())).kind, "unavailable");
    },
  },
];

async function lookUp(harness: RailHarness, message: RailMessage): Promise<ReturnType<typeof assertLookup>> {
  const { rail } = harness;
  const ask = async (): Promise<unknown> => await rail.lookup?.(frozen(message), { signal: neverAborted });
  return assertLookup(harness, await within(harness, ask(), "an answer to the lookup"));
}

export const conformanceCases: readonly ConformanceCase[] = [...sendingCases, ...brokenCases, ...repeatCases];
