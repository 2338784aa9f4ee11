/**
 * A relay of everything that money needs, with the real rail for Stripe. Runs are dispatched to a stand-in that only counts them (works.ts).
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import type { Rail } from "../../../src/contract/rail.ts";
import { createStripeRail } from "../../../src/rails/stripe/rail.ts";
import { relayTrapSchema, runRelayPart } from "../kit/relay-part.ts";
import { shopRail } from "./directory.ts";

const configSchema = z.object({
  connectionString: z.string(),
  stripeUrl: z.string(),
  worksUrl: z.string(),
  stripeKey: z.string().default("sk_test_chaos"),
  trap: relayTrapSchema.optional(),
});

const { connectionString, stripeUrl, worksUrl, stripeKey, trap } = configSchema.parse(
  JSON.parse(process.argv[2] ?? "{}"),
);
const operationOf = z.object({ operation: z.string().default("dispatch") });
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

/** An application's own rail: it returns the answer that the row contains. */
const shop: Rail = {
  name: shopRail,
  capability: "idempotent",
  timeoutMs: 1_000,
  send: ({ payload }) => ({ kind: "delivered", response: answerSchema.parse(payload).answer }),
};

await runRelayPart({
  connectionString,
  rails: [createStripeRail({ secretKey: stripeKey, apiUrl: stripeUrl, timeoutMs, concurrency: 20 }), works, shop],
  streams: ["billing", "payments", "notifications", "refunds", "subscriptions", "provisioning"],
  reapMs: 1_000,
  trap,
});
