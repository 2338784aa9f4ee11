/**
 * Answers Stripe's API.
 *
 * Owns: the routes, the key and the form of Stripe's refusals. Does not own: what a call does, or the pages.
 */
import { sha256 } from "../../db/hash.ts";
import { Hono } from "hono";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import { getEvent, listEvents } from "./api/events.ts";
import { expandOf, type Parameters } from "./api/parameters.ts";
import * as payments from "./api/payments.ts";
import * as sessions from "./api/sessions.ts";
import * as subscriptions from "./api/subscriptions.ts";
import { expand } from "./expand.ts";
import { FormError, readForm } from "./form.ts";
import { KeyMemory } from "./idempotency.ts";
import { StripeRefusal } from "./refusal.ts";
import type { Shape } from "./shapes.ts";
import type { StripeState } from "./state.ts";

interface Endpoint {
  readonly verb: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** The name that faults and the log use. */
  readonly name: string;
  readonly run: (given: Parameters, id: string) => Shape;
}

export function stripeRoutes(world: World, state: StripeState): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  for (const endpoint of endpointsOf(world, state)) {
    routes.on(endpoint.verb, endpoint.path, (context) => serve(context, world, state, endpoint));
  }
  routes.all("/v1/*", (context) =>
    said(new StripeRefusal(404, `Unrecognized request URL (${context.req.method}: ${context.req.path}).`)),
  );
  return routes;
}

function endpointsOf(world: World, state: StripeState): Endpoint[] {
  const get = (path: string, name: string, run: Endpoint["run"]): Endpoint => ({ verb: "GET", path, name, run });
  const post = (path: string, name: string, run: Endpoint["run"]): Endpoint => ({ verb: "POST", path, name, run });
  const remove = (path: string, name: string, run: Endpoint["run"]): Endpoint => ({ verb: "DELETE", path, name, run });
  const session = "/v1/checkout/sessions";
  return [
    post(session, "checkout.sessions.create", (given) => sessions.createSession(world, state, given)),
    get(session, "checkout.sessions.list", (given) => sessions.listSessions(world, state, given)),
    get(`${session}/:id`, "checkout.sessions.retrieve", (_, id) => sessions.getSession(world, state, id)),
    post(`${session}/:id/expire`, "checkout.sessions.expire", (_, id) => sessions.expireSession(world, state, id)),
    get("/v1/payment_intents", "paymentIntents.list", (given) => payments.listIntents(state, given)),
    get("/v1/payment_intents/:id", "paymentIntents.retrieve", (_, id) => payments.getIntent(state, id)),
    get("/v1/charges/:id", "charges.retrieve", (_, id) => payments.getCharge(state, id)),
    post("/v1/refunds", "refunds.create", (given) => payments.createRefund(world, state, given)),
    get("/v1/refunds", "refunds.list", (given) => payments.listRefunds(state, given)),
    get("/v1/refunds/:id", "refunds.retrieve", (_, id) => payments.getRefund(state, id)),
    get("/v1/disputes", "disputes.list", (given) => payments.listDisputes(state, given)),
    get("/v1/disputes/:id", "disputes.retrieve", (_, id) => payments.getDispute(state, id)),
    get("/v1/balance", "balance.retrieve", () => payments.getBalance(state)),
    post("/v1/customers", "customers.create", (given) => subscriptions.createCustomer(state, given)),
    get("/v1/customers/:id", "customers.retrieve", (_, id) => subscriptions.getCustomer(state, id)),
    remove("/v1/customers/:id", "customers.del", (_, id) => subscriptions.deleteCustomer(state, id)),
    get("/v1/subscriptions", "subscriptions.list", (given) => subscriptions.listSubscriptions(state, given)),
    get("/v1/subscriptions/:id", "subscriptions.retrieve", (_, id) => subscriptions.getSubscription(state, id)),
    post("/v1/subscriptions/:id", "subscriptions.update", (given, id) =>
      subscriptions.updateSubscription(world, state, id, given),
    ),
    remove("/v1/subscriptions/:id", "subscriptions.cancel", (_, id) =>
      subscriptions.cancelSubscription(world, state, id),
    ),
    get("/v1/invoices", "invoices.list", (given) => subscriptions.listInvoices(state, given)),
    get("/v1/invoices/:id", "invoices.retrieve", (_, id) => subscriptions.getInvoice(state, id)),
    get("/v1/invoice_payments", "invoicePayments.list", (given) => subscriptions.listInvoicePayments(state, given)),
    get("/v1/events", "events.list", (given) => listEvents(state, given)),
    get("/v1/events/:id", "events.retrieve", (_, id) => getEvent(state, id)),
  ];
}

async function serve(context: SandboxContext, world: World, state: StripeState, endpoint: Endpoint): Promise<Response> {
  const text = endpoint.verb === "POST" ? await context.req.text() : new URL(context.req.url).search.slice(1);
  const key = endpoint.verb === "POST" ? context.req.header("idempotency-key") : undefined;
  const fingerprint = sha256(`${context.req.path}\n${text}`);
  let given: Parameters;
  try {
    given = readForm(text);
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    return said(new StripeRefusal(400, error.message));
  }
  const id = context.req.param("id") ?? "";
  const reference = given["client_reference_id"] ?? given["payment_intent"] ?? (id === "" ? undefined : id);
  const channel = typeof reference === "string" ? reference : undefined;
  const body = { ...given, idempotency_key: key };
  const call = { provider: "stripe", method: endpoint.name, channel, body } as const;
  const memory = key === undefined ? undefined : new KeyMemory(world, state, key, fingerprint);
  const work = (): string => {
    state.isLive = isLiveKey(context);
    return JSON.stringify(expand(world, state, endpoint.run(given, id), expandOf(given)));
  };
  try {
    return await answer(context, world, call, dialectOf(memory), () => {
      try {
        authenticate(context, world);
        return underKey(memory, work);
      } catch (error) {
        if (error instanceof StripeRefusal) return said(error);
        throw error;
      } finally {
        // The work is done, however long the answer takes.
        memory?.end();
      }
    });
  } finally {
    memory?.end();
  }
}

/** A call that is refused for its parameters has not started, and is not remembered. */
function underKey(memory: KeyMemory | undefined, work: () => string): Response {
  const replay = memory?.replay();
  if (replay !== undefined) return json(replay.status, replay.body, { "idempotent-replayed": "true" });
  try {
    const body = work();
    memory?.keep(200, body);
    return json(200, body);
  } catch (error) {
    if (error instanceof StripeRefusal && error.hadBegun) memory?.keep(error.status, bodyOf(error));
    throw error;
  }
}

function keyOf(context: SandboxContext): string | undefined {
  return /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

/** A key names its mode; a key without a mode is for test mode. */
function isLiveKey(context: SandboxContext): boolean {
  return /^(sk|rk)_live_/.test(keyOf(context) ?? "");
}

function authenticate(context: SandboxContext, world: World): void {
  const key = keyOf(context);
  const wanted = world.secrets.stripeSecretKey;
  if (key === undefined) throw new StripeRefusal(401, "You did not provide an API key.");
  if (wanted === undefined ? !/^(sk|rk)_/.test(key) : key !== wanted) {
    throw new StripeRefusal(401, `Invalid API Key provided: ${key.slice(0, 3)}****`);
  }
}

function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, {
    status,
    headers: { "content-type": "application/json", "request-id": "req_sandbox", ...headers },
  });
}

function said(refusal: StripeRefusal, headers: Readonly<Record<string, string>> = {}): Response {
  return json(refusal.status, bodyOf(refusal), headers);
}

function bodyOf(refusal: StripeRefusal): string {
  return JSON.stringify({ error: { message: refusal.message, ...refusal.fields } });
}

function dialectOf(memory: KeyMemory | undefined): Dialect {
  return {
    failed: (hadBegun) => {
      const failure = new StripeRefusal(500, "An unknown error occurred", { type: "api_error" });
      if (hadBegun) memory?.keep(500, bodyOf(failure));
      return said(failure);
    },
    rateLimited: (seconds) =>
      said(new StripeRefusal(429, "Too many requests hit the API too quickly.", { code: "rate_limit" }), {
        "retry-after": String(seconds),
      }),
    locked: () =>
      said(
        new StripeRefusal(
          429,
          "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
          { code: "lock_timeout" },
        ),
      ),
    refused: (words) => said(new StripeRefusal(402, words, { type: "card_error", code: "card_declined" })),
  };
}
