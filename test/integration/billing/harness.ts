/**
 * Drives money in tests: offers with a price, customers who go to pay, a stand-in for Stripe behind a real relay, and events signed as
 * Stripe signs them.
 *
 * Does not own: what is asserted, nor the requests and jobs behind the payments.
 */
import { randomUUID } from "node:crypto";
import { Stripe } from "stripe";
import { afterEach, beforeAll } from "vitest";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { createRelay, type Json, type Relay } from "../../../src/outbox/index.ts";
import type { RequestInput } from "../capacity/harness.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import type { Queryable } from "../outbox/queries.ts";
import { until } from "../outbox/relay/stage.ts";
import { secretKey, startProvisioning, type Provisioning } from "../provisioning/harness.ts";
import { StandIn, type Thing } from "./stand-in.ts";

export const webhookSecret = `whsec_${"s".repeat(32)}`;

export interface Checkout {
  readonly checkout_id: string;
  readonly request_id: string;
  readonly state: string;
  readonly url: string | null;
  readonly amount: number;
  readonly currency: string;
}

export interface Heard {
  readonly received: boolean;
  readonly new: boolean;
  readonly outcome?: string;
  readonly status?: number;
  readonly code?: string;
}

export interface Told {
  readonly id?: string;
  /** How many seconds before now Stripe made the event. */
  readonly ago?: number;
  readonly client?: Queryable;
}

export interface Money extends Provisioning {
  readonly stripe: StandIn;
  /** A request with a price, whose customer is asked. */
  offered(input?: RequestInput): Promise<string>;
  token(id: string): Promise<string>;
  begin(id: string, entrance?: string): Promise<Checkout>;
  checkout(id: string): Promise<Checkout | null>;
  /** A request whose customer is on Stripe's page. */
  opened(input?: RequestInput): Promise<{ id: string; session: Thing }>;
  /** A request that was paid by card. */
  bought(input?: RequestInput): Promise<{ id: string; session: Thing }>;
  /** The session as Stripe has it after the customer has paid. */
  paid(session: Thing, changes?: Readonly<Record<string, Json>>): Thing;
  event(type: string, object: unknown, told?: Told): { body: string; headers: Record<string, string> };
  /** Sends an event as Stripe would, through the function that PostgREST exposes. */
  tells(type: string, object: unknown, told?: Told): Promise<Heard>;
  /** Lets a relay deliver everything to Stripe's stand-in, and has the sweep read the answers. */
  deliver(): Promise<void>;
  /** Stops the relay before the end of the test. */
  stop(): Promise<void>;
  /** Runs the timers. */
  timers(): Promise<void>;
  /** Makes everything of a request due, and runs the timers. */
  look(id: string): Promise<void>;
  payments(id: string): Promise<PaymentRow[]>;
  /** Refunds of a request as `origin reason amount state held_by`, in order. */
  refunds(id: string): Promise<string[]>;
  /** The books of a request as `kind amount`, in order. */
  books(id: string): Promise<string[]>;
  /** What was said about the request's money, in order. */
  said(id: string): Promise<string[]>;
  state(id: string): Promise<string>;
  problems(): Promise<unknown[]>;
}

export interface PaymentRow {
  readonly id: string;
  readonly purpose: string;
  readonly amount: number;
  readonly counts: boolean;
  readonly refund_reason: string | null;
  readonly payment_intent: string | null;
}

/** Call it while tests are being collected. */
export async function startMoney(version: EmbeddedVersion): Promise<Money> {
  const p = await startProvisioning(version);
  const pool = p.superuser;
  const stripe = new StandIn(`T${version}x`);
  let relay: Relay | undefined;

  beforeAll(async () => {
    const control = await p.db.superuser.connect();
    await control.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await control.query("select headroom.set_secret('STRIPE_WEBHOOK_SECRET', $1)", [webhookSecret]);
    await control.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", ["c".repeat(40)]);
    await control.end();
    await rowsOf(
      pool,
      `insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by) values
         ('acme', '32XL', 'one_off', 'USD', 30000, 'test'), ('acme', 'MONTHLY', 'recurring', 'USD', 10000, 'test'),
         ('acme', 'YEN', 'one_off', 'JPY', 5000, 'test')`,
    );
  });
  const stop = async (): Promise<void> => {
    const running = relay;
    relay = undefined;
    await running?.stop();
  };
  afterEach(stop);

  /** As anon, over a login of PostgREST's, with what is encrypted readable. */
  async function asAnon<T>(headers: Record<string, string>, text: string, values: unknown[]): Promise<T> {
    const client = await p.db.as("authenticator").pool.connect();
    try {
      await client.query("begin");
      await client.query(
        "select set_config('role', 'anon', true), set_config('request.headers', $1, true), set_config('headroom.secret_key', $2, true)",
        [JSON.stringify(headers), secretKey],
      );
      const { answer } = await oneOf<{ answer: T }>(client, text, values);
      await client.query("commit");
      return answer;
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  }

  const money: Omit<Money, keyof Provisioning> = {
    stripe,
    offered: (input = {}) =>
      p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer: { org_id: randomUUID(), name: "Initech" }, ...input }),
    async token(id) {
      // Over a connection that is kept: the first call of a new one takes many times longer.
      const { token } = await oneOf<{ token: string }>(
        pool,
        `select capacity.confirmation_token(t.id) as token
           from capacity.confirmation_tokens t, set_config('headroom.secret_key', $2, true) k
          where t.request_id = $1 and t.revoked_at is null`,
        [id, secretKey],
      );
      return token;
    },
    begin: async (id, entrance = "link") =>
      asAnon({}, "select public.begin_checkout($1, $2) as answer", [await money.token(id), entrance]),
    checkout: async (id) => asAnon({}, "select public.get_checkout($1) as answer", [await money.token(id)]),
    async opened(input) {
      const id = await money.offered(input);
      await money.begin(id);
      await money.deliver();
      const session = [...stripe.things.values()].find(
        (thing) => (thing["metadata"] as { headroom_request?: string } | undefined)?.headroom_request === id,
      );
      if (session === undefined) throw new Error(`Stripe has no session of ${id}.`);
      return { id, session };
    },
    async bought(input) {
      const { id, session } = await money.opened(input);
      const paid = money.paid(session);
      await money.tells("checkout.session.completed", paid);
      return { id, session: paid };
    },
    paid(session, changes = {}) {
      const recurring = session["mode"] === "subscription";
      return stripe.put({
        ...session,
        status: "complete",
        payment_status: "paid",
        url: null,
        customer: stripe.nextId("cus"),
        payment_intent: recurring ? null : stripe.nextId("pi"),
        subscription: recurring ? stripe.nextId("sub") : null,
        invoice: recurring ? stripe.nextId("in") : null,
        ...changes,
      });
    },
    event(type, object, { id = `evt_${randomUUID().replaceAll("-", "")}`, ago = 0 } = {}) {
      const created = Math.floor(Date.now() / 1000) - ago;
      const body = JSON.stringify({ id, object: "event", type, created, livemode: false, data: { object } });
      const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: webhookSecret });
      return { body, headers: { "stripe-signature": header } };
    },
    async tells(type, object, told = {}) {
      const { body, headers } = money.event(type, object, told);
      if (told.client === undefined) {
        return asAnon(headers, "select public.handle_stripe_webhook($1) as answer", [body]);
      }
      const { answer } = await oneOf<{ answer: Heard }>(
        told.client,
        `select public.handle_stripe_webhook($1) as answer
           from set_config('request.headers', $2, true) h, set_config('headroom.secret_key', $3, true) k`,
        [body, JSON.stringify(headers), secretKey],
      );
      return answer;
    },
    async deliver() {
      if (relay === undefined) {
        relay = createRelay({
          connectionString: p.db.as("headroom_executor").url,
          rails: [stripe.rail],
          streams: ["billing", "payments", "refunds", "subscriptions"],
          pollMs: 250,
        });
        await relay.start();
      }
      await until(
        () => rowsOf<{ key: string }>(pool, waitingQuery),
        (waiting) => waiting.length === 0,
        "everything for Stripe to be delivered",
      );
      await money.timers();
    },
    stop,
    async timers() {
      const { failed } = await oneOf<{ failed: unknown[] }>(
        pool,
        "select (public.run_capacity_request_timers()) -> 'failed' as failed",
      );
      if (failed.length > 0) throw new Error(`The sweep failed: ${JSON.stringify(failed)}`);
    },
    async look(id) {
      for (const table of ["checkouts", "payments", "refunds", "subscriptions"]) {
        const nullable = table === "checkouts" ? "" : "and next_look_at is not null";
        await rowsOf(pool, `update billing.${table} set next_look_at = now() where request_id = $1 ${nullable}`, [id]);
      }
      await money.timers();
    },
    payments: (id) =>
      rowsOf<PaymentRow>(pool, "select * from billing.payments where request_id = $1 order by recorded_at, id", [id]),
    refunds: (id) =>
      lines(
        `select concat_ws(' ', origin, reason, amount, state, held_by) as line from billing.refunds where request_id = $1
          order by created_at, id`,
        id,
      ),
    books: (id) =>
      lines(
        `select concat_ws(' ', e.kind, e.amount) as line from billing.entries e join billing.payments p on p.id = e.payment_id
          where p.request_id = $1 order by e.id`,
        id,
      ),
    said: (id) =>
      lines(
        "select said as line from capacity.notices where request_id = $1 and kind in ('payment', 'payment_failed', 'refund') order by id",
        id,
      ),
    state: async (id) =>
      (await oneOf<{ state: string }>(pool, "select state from capacity.requests where id = $1", [id])).state,
    async problems() {
      const { findings } = await oneOf<{ findings: unknown[] }>(pool, "select * from billing.verify_payments()");
      return findings;
    },
  };
  async function lines(text: string, id: string): Promise<string[]> {
    return (await rowsOf<{ line: string }>(pool, text, [id])).map(({ line }) => line);
  }
  return Object.assign(p, money);
}

/** A lane blocked by a dead letter waits for a person. */
const waitingQuery = `
  select l.key from outbox.pending p
    join outbox.lanes l on l.lane_id = p.lane_id
    join outbox.streams s on s.stream_id = l.stream_id and s.name in ('billing', 'payments', 'refunds', 'subscriptions')
   where s.on_dead = 'skip'
      or not exists (select from outbox.dead d join outbox.payloads m on m.outbox_id = d.outbox_id where m.lane_id = p.lane_id)`;
