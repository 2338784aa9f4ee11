/** The Stripe rail's operations, and how the sandbox shows each message's effect. */
import { randomUUID } from "node:crypto";
import type { Json } from "../../../../src/contract/rail.ts";
import { createStripeRail } from "../../../../src/rails/stripe/rail.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import type { ProviderPlan } from "../harness.ts";

export const stripeKey = "sk_test_conformance";

const stripe = {
  provider: "stripe",
  rail: (url) => createStripeRail({ secretKey: stripeKey, apiUrl: url }),
  nowhere: "http://127.0.0.1:1",
  urlOf: (sandbox) => sandbox.url,
  secrets: [stripeKey],
} satisfies Partial<ProviderPlan>;

export const installation = "0f8a4f5e-0000-4000-8000-000000000001";

/** A session's terms, unlike any other's. */
export function terms(changes: { [name: string]: Json } = {}): { [name: string]: Json } {
  return {
    operation: "checkout.create",
    checkout_id: randomUUID(),
    request_id: "CR-2026-000001",
    workspace_id: "default",
    installation_id: installation,
    mode: "payment",
    currency: "USD",
    amount: 4_800_00,
    unit_amount: 1_200_00,
    quantity: 4,
    description: "4 × 32XL in us-east-1",
    expires_at: Math.floor(Date.now() / 1000) + 3_600,
    success_url: "https://headroom.example/paid/1",
    cancel_url: "https://headroom.example/paid/1?cancelled=1",
    customer_email: "buyer@acme.example",
    ...changes,
  };
}

export const createPlan: ProviderPlan = {
  ...stripe,
  method: "checkout.sessions.create",
  payload: () => terms(),
  invalid: [
    null,
    {},
    { operation: "checkout.create" },
    terms({ amount: 1 }),
    terms({ currency: "usd" }),
    terms({ unit_amount: 1_200.5 }),
    terms({ success_url: "javascript:alert(1)" }),
    terms({ customer: "acct_1" }),
    { ...terms(), operation: "payout" },
  ],
  markOf: (payload) => textAt(payload, "checkout_id"),
  effects: (sandbox, mark) =>
    sandbox.stripe.sessions().filter(({ clientReferenceId }) => clientReferenceId === mark).length,
};

/** More than any case has messages. */
const prepared = 25;

interface Prepared {
  readonly prepare: (sandbox: Sandbox) => Promise<void>;
  readonly next: () => string;
}

/** Sessions, all of which are paid where `use` does so. */
function prepareSessions(
  mode: "payment" | "subscription",
  use: (sandbox: Sandbox, session: string) => string,
): Prepared {
  const ready: string[] = [];
  return {
    prepare: async (sandbox) => {
      const rail = stripe.rail(sandbox.url);
      const { signal } = new AbortController();
      const message = { stream: "billing", key: null, seq: null, body: "", tenantId: null, destination: null };
      for (let n = 0; n < prepared; n += 1) {
        const outboxId = randomUUID();
        const row = {
          ...message,
          outboxId,
          instructionId: outboxId,
          idempotencyKey: "create",
          payload: terms({ mode }),
        };
        const made = await rail.send({ ...row, tryNo: 1, uncertain: false, createdAt: new Date() }, { signal });
        if (made.kind !== "delivered") throw new Error(`no session was made: ${JSON.stringify(made)}`);
        ready.push(use(sandbox, made.reference ?? ""));
      }
      rail.close();
    },
    next: () => ready.pop() ?? "none is left",
  };
}

/** These need separate sandboxes, which have their sessions. */
export function expirePlan(): ProviderPlan {
  const { prepare, next } = prepareSessions("payment", (_, session) => session);
  return {
    ...stripe,
    prepare,
    method: "checkout.sessions.expire",
    payload: () => ({ operation: "checkout.expire", session_id: next() }),
    invalid: [{ operation: "checkout.expire" }, { operation: "checkout.expire", session_id: "pi_1" }],
    markOf: (payload) => textAt(payload, "session_id"),
    effects: (sandbox, mark) => expiriesOf(sandbox, mark),
  };
}

/** Counted by the events about it: a second end would make a second event. */
function expiriesOf(sandbox: Sandbox, session: string): number {
  return sandbox.stripe.events().filter(({ type, object }) => type.endsWith("expired") && object["id"] === session)
    .length;
}

export function refundPlan(): ProviderPlan {
  const { prepare, next } = prepareSessions("payment", (sandbox, session) => {
    sandbox.stripe.pay(session);
    return sandbox.stripe.session(session).paymentIntent;
  });
  const payload = () => ({
    operation: "refund",
    amount: 1_00,
    currency: "USD",
    destination: next(),
    refund_id: randomUUID(),
    request_id: "CR-2026-000001",
    payment_id: randomUUID(),
    installation_id: installation,
    reason: "late",
  });
  return {
    ...stripe,
    prepare,
    method: "refunds.create",
    payload,
    invalid: [
      { ...payload(), destination: "acct_1" },
      { ...payload(), destination: "pi_1", amount: 0 },
      { ...payload(), destination: "pi_1", amount: 1.5 },
      { ...payload(), destination: "pi_1", amount: "100" },
      { ...payload(), destination: "pi_1", currency: "usd" },
    ],
    markOf: (given) => textAt(given, "refund_id"),
    effects: (sandbox, mark) =>
      sandbox.stripe.refunds().filter(({ metadata }) => metadata["headroom_refund"] === mark).length,
  };
}

export function cancelPlan(): ProviderPlan {
  const { prepare, next } = prepareSessions("subscription", (sandbox, session) => {
    sandbox.stripe.pay(session);
    return sandbox.stripe.session(session).subscription ?? "";
  });
  return {
    ...stripe,
    prepare,
    method: "subscriptions.cancel",
    payload: () => ({ operation: "subscription.cancel", subscription_id: next() }),
    invalid: [{ operation: "subscription.cancel", subscription_id: "cs_1" }],
    markOf: (payload) => textAt(payload, "subscription_id"),
    effects: (sandbox, mark) =>
      sandbox.stripe.subscriptions().filter(({ id, status }) => id === mark && status === "canceled").length,
  };
}

/** The effect of a query is that it was answered. */
export function lookPlan(): ProviderPlan {
  const { prepare, next } = prepareSessions("payment", (_, session) => session);
  return {
    ...stripe,
    prepare,
    method: "checkout.sessions.retrieve",
    payload: () => ({ operation: "look", kind: "session", id: next() }),
    invalid: [
      { operation: "look", kind: "account", id: "acct_1" },
      { operation: "look", kind: "session", id: "../balance" },
    ],
    markOf: (payload) => textAt(payload, "id"),
    effects: (sandbox, mark) => answered(sandbox, "checkout.sessions.retrieve", mark),
  };
}

export function listPlan(): ProviderPlan {
  let since = 1_700_000_000;
  return {
    ...stripe,
    method: "refunds.list",
    payload: () => ({ operation: "list", kind: "refunds", since: (since += 1) }),
    invalid: [
      { operation: "list", kind: "refunds" },
      { operation: "list", kind: "customers", since },
    ],
    markOf: (payload) => JSON.stringify(numberAt(payload, "since")),
    effects: (sandbox, mark) => answered(sandbox, "refunds.list", mark),
  };
}

function answered(sandbox: Sandbox, method: string, mark: string): number {
  return sandbox.requests
    .list({ method })
    .filter(({ path, body, effect }) => effect === true && JSON.stringify([path, body]).includes(mark)).length;
}

function textAt(payload: Json, name: string): string {
  const found = fieldAt(payload, name);
  return typeof found === "string" ? found : "";
}

function numberAt(payload: Json, name: string): number {
  const found = fieldAt(payload, name);
  return typeof found === "number" ? found : 0;
}

function fieldAt(payload: Json, name: string): Json | undefined {
  return typeof payload === "object" && payload !== null && !Array.isArray(payload) ? payload[name] : undefined;
}
