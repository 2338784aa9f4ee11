/**
 * Where Stripe's API is answered.
 *
 * Owns: the routes, the key, idempotency keys and Stripe's way of saying no. Does not own: what a call does, or the pages.
 */
import { sha256 } from "../../db/hash.ts";
import { Hono } from "hono";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import * as api from "./api.ts";
import { StripeRefusal, type Parameters } from "./api.ts";
import { FormError, readForm } from "./form.ts";
import type { StripeState } from "./state.ts";

/** Stripe forgets keys after a day. */
const keyLifeMs = 24 * 60 * 60 * 1000;

interface Endpoint {
  readonly verb: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** As faults and the log name it. */
  readonly name: string;
  readonly run: (given: Parameters, id: string) => Record<string, unknown>;
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
  const sessions = "/v1/checkout/sessions";
  return [
    {
      verb: "POST",
      path: sessions,
      name: "checkout.sessions.create",
      run: (given) => api.createSession(world, state, given),
    },
    {
      verb: "GET",
      path: `${sessions}/:id`,
      name: "checkout.sessions.retrieve",
      run: (given, id) => api.getSession(world, state, id, given),
    },
    {
      verb: "POST",
      path: `${sessions}/:id/expire`,
      name: "checkout.sessions.expire",
      run: (_, id) => api.expireSession(world, state, id),
    },
    {
      verb: "GET",
      path: "/v1/payment_intents/:id",
      name: "paymentIntents.retrieve",
      run: (_, id) => api.getIntent(state, id),
    },
    {
      verb: "POST",
      path: "/v1/refunds",
      name: "refunds.create",
      run: (given) => api.createRefund(world, state, given),
    },
    { verb: "GET", path: "/v1/refunds", name: "refunds.list", run: (given) => api.listRefunds(state, given) },
    { verb: "GET", path: "/v1/refunds/:id", name: "refunds.retrieve", run: (_, id) => api.getRefund(state, id) },
    { verb: "POST", path: "/v1/customers", name: "customers.create", run: (given) => api.createCustomer(state, given) },
    { verb: "GET", path: "/v1/customers/:id", name: "customers.retrieve", run: (_, id) => api.getCustomer(state, id) },
    {
      verb: "GET",
      path: "/v1/subscriptions/:id",
      name: "subscriptions.retrieve",
      run: (_, id) => api.getSubscription(state, id),
    },
    {
      verb: "DELETE",
      path: "/v1/subscriptions/:id",
      name: "subscriptions.cancel",
      run: (_, id) => api.cancelSubscription(world, state, id),
    },
    { verb: "GET", path: "/v1/events", name: "events.list", run: (given) => api.listEvents(state, given) },
    { verb: "GET", path: "/v1/events/:id", name: "events.retrieve", run: (_, id) => api.getEvent(state, id) },
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
  const reference = given["client_reference_id"] ?? given["payment_intent"];
  const channel = typeof reference === "string" ? reference : undefined;
  const call = {
    provider: "stripe",
    method: endpoint.name,
    channel,
    body: { ...given, idempotency_key: key },
  } as const;
  const memory = key === undefined ? undefined : new KeyMemory(world, state, key, fingerprint);
  return answer(context, world, call, dialectOf(memory), () => {
    try {
      authenticate(context, world);
      const replay = memory?.replay();
      if (replay !== undefined) return replay;
      const id = context.req.param("id") ?? "";
      const body = JSON.stringify(endpoint.run(given, id));
      memory?.keep(200, body);
      return json(200, body);
    } catch (error) {
      if (!(error instanceof StripeRefusal)) throw error;
      // What is refused for its parameters has not begun, and is not remembered.
      return said(error);
    }
  });
}

/** What was answered under a key is answered again, a failure too; other parameters under the same key are an error. */
class KeyMemory {
  readonly #world: World;
  readonly #state: StripeState;
  readonly #key: string;
  readonly #fingerprint: string;

  constructor(world: World, state: StripeState, key: string, fingerprint: string) {
    this.#world = world;
    this.#state = state;
    this.#key = key;
    this.#fingerprint = fingerprint;
  }

  replay(): Response | undefined {
    const before = this.#state.remembered.get(this.#key);
    if (before === undefined || this.#world.now() - before.at > keyLifeMs) return undefined;
    if (before.fingerprint !== this.#fingerprint) {
      throw new StripeRefusal(
        400,
        `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${this.#key}' if you meant to execute a different request.`,
        { type: "idempotency_error" },
      );
    }
    return json(before.status, before.body, { "idempotent-replayed": "true" });
  }

  keep(status: number, body: string): void {
    this.#state.remember(this.#key, { fingerprint: this.#fingerprint, status, body, at: this.#world.now() });
  }
}

function authenticate(context: SandboxContext, world: World): void {
  const key = /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
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
  return json(refusal.status, JSON.stringify({ error: { message: refusal.message, ...refusal.fields } }), headers);
}

function dialectOf(memory: KeyMemory | undefined): Dialect {
  return {
    failed: (afterAccept) => {
      const failure = new StripeRefusal(500, "An unknown error occurred", { type: "api_error" });
      if (afterAccept) memory?.keep(500, JSON.stringify({ error: { message: failure.message, ...failure.fields } }));
      return said(failure);
    },
    rateLimited: (seconds) =>
      said(new StripeRefusal(429, "Too many requests hit the API too quickly.", { code: "rate_limit" }), {
        "retry-after": String(seconds),
      }),
    refused: (words) => said(new StripeRefusal(402, words, { type: "card_error", code: "card_declined" })),
  };
}
