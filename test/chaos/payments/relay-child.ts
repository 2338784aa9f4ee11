/**
 * A relay of everything that money needs, with the real rail for Stripe, which kills itself at one step of one kind of call if it was told
 * to. Runs are dispatched to a stand-in that only counts them (works.ts).
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { createRelay } from "../../../src/outbox/relay/relay.ts";
import type { Rail } from "../../../src/contract/rail.ts";
import { createStripeRail } from "../../../src/rails/stripe/rail.ts";
import { shopRail } from "./directory.ts";
import { endWithStarter } from "../provisioning/part-process.ts";

const trapSchema = z.object({
  operation: z.enum([
    "checkout.create",
    "checkout.expire",
    "refund",
    "subscription.cancel",
    "look",
    "list",
    "dispatch",
  ]),
  at: z.enum(["send.before", "send.after", "settle.before", "settle.after"]),
});
export type RelayTrap = z.infer<typeof trapSchema>;

const configSchema = z.object({
  connectionString: z.string(),
  stripeUrl: z.string(),
  worksUrl: z.string(),
  stripeKey: z.string().default("sk_test_chaos"),
  trap: trapSchema.optional(),
});

const { connectionString, stripeUrl, worksUrl, stripeKey, trap } = configSchema.parse(
  JSON.parse(process.argv[2] ?? "{}"),
);
endWithStarter();
/** Whether a call of the kind that the trap waits for is under way. */
let isArmed = false;

function reach(step: string): void {
  if (isArmed && step === trap?.at) process.kill(process.pid, "SIGKILL");
}

const operationOf = z.object({ operation: z.string().default("dispatch") });

function trapped(rail: Rail): Rail {
  return {
    ...rail,
    send(message, context) {
      isArmed ||= operationOf.parse(message.payload).operation === trap?.operation;
      reach("send.before");
      return rail.send(message, context);
    },
  };
}

const answerSchema = z.object({ answer: z.json().default(null) });
const runSchema = z.object({ run: z.object({ id: z.number() }).nullable() });
const timeoutMs = 5_500;

async function askWorks(method: "GET" | "POST", mark: string, signal: AbortSignal, body?: string) {
  const answer = await fetch(`${worksUrl}/runs/${encodeURIComponent(mark)}`, { method, signal, ...(body && { body }) });
  if (!answer.ok) throw new Error(`works: ${answer.status}`);
  return runSchema.parse(await answer.json());
}

const works: Rail = {
  name: "github-actions",
  capability: "lookup",
  timeoutMs,
  async send({ payload, body, instructionId }, { signal }) {
    if (operationOf.parse(payload).operation !== "dispatch") return { kind: "delivered", response: { runs: [] } };
    try {
      const { run } = await askWorks("POST", instructionId, signal, body);
      return { kind: "delivered", reference: String(run?.id), response: { run } };
    } catch (error) {
      return { kind: "unknown", code: "works", reason: String(error).slice(0, 200) };
    }
  },
  async lookup({ instructionId }, { signal }) {
    try {
      const { run } = await askWorks("GET", instructionId, signal);
      return run === null ? { kind: "absent" } : { kind: "found", reference: String(run.id), response: { run } };
    } catch (error) {
      return { kind: "unavailable", code: "works", reason: String(error).slice(0, 200) };
    }
  },
};

/** An application's own: it answers what the row says that it answers. */
const shop: Rail = {
  name: shopRail,
  capability: "idempotent",
  timeoutMs: 1_000,
  send: ({ payload }) => ({ kind: "delivered", response: answerSchema.parse(payload).answer }),
};

const relay = createRelay({
  connectionString,
  rails: [
    trapped(createStripeRail({ secretKey: stripeKey, apiUrl: stripeUrl, timeoutMs, concurrency: 20 })),
    trapped(works),
    shop,
  ],
  streams: ["billing", "payments", "notifications", "refunds", "subscriptions", "provisioning"],
  pollMs: 250,
  reapMs: 1_000,
  leaseMarginMs: 500,
  // The step before a send comes before the kind of the call is known.
  onStep: (step) => step !== "send.before" && reach(step),
  log({ event, ...entry }) {
    if (event === "relay_started") console.log(JSON.stringify({ ready: Number(entry["relayId"]) }));
  },
});
try {
  await relay.start();
} catch {
  process.exit(1);
}
