/** The product's data about money, in the form that the verdict compares. */
import type { StripeBooks } from "./books.ts";
import type { LifeStage } from "./stage.ts";

export interface OurPayment {
  readonly id: string;
  readonly request_id: string;
  readonly purpose: "confirmation" | "renewal" | "unmatched";
  readonly payment_intent: string | null;
  readonly invoice_id: string | null;
  readonly session_id: string | null;
  readonly currency: string;
  readonly amount: number;
  readonly counts: boolean;
  readonly refund_reason: string | null;
  readonly held_by: string | null;
  readonly told: boolean;
  /** It was reported to people that Stripe did not make a person's refund. */
  readonly unmade: boolean;
}
export interface OurRefund {
  readonly id: string;
  readonly request_id: string;
  readonly stripe_id: string | null;
  readonly state: string;
  readonly amount: number;
  readonly origin: string;
  readonly reason: string;
  readonly payment_id: string;
}
export interface OurThing {
  readonly request_id: string;
  readonly stripe_id: string;
  readonly state: string;
  readonly amount: number;
}
export interface OurFinding {
  readonly request_id: string | null;
  readonly kind: string;
  readonly stripe_id: string;
  readonly said: string;
}

export interface Ours {
  readonly states: ReadonlyMap<string, string>;
  readonly payments: readonly OurPayment[];
  readonly refunds: readonly OurRefund[];
  readonly disputes: readonly OurThing[];
  readonly subscriptions: readonly OurThing[];
  readonly findings: readonly OurFinding[];
  /** By the id of a payment or a refund. */
  readonly requestOf: ReadonlyMap<string, string>;
}

/** The product's data, without payments from test mode. */
export function withoutPlay(ours: Ours, play: StripeBooks | undefined): Ours {
  if (play === undefined) return ours;
  const ids = new Set(
    [play.intents, play.refunds, play.disputes, play.subscriptions, play.invoices, play.sessions]
      .flat()
      .map(({ id }) => id),
  );
  const isReal = (id: string | null): boolean => id === null || !ids.has(id);
  const payments = ours.payments.filter(
    ({ payment_intent: intent, session_id: session, invoice_id: invoice }) =>
      isReal(intent) && isReal(session) && isReal(invoice),
  );
  const real = new Set(payments.map(({ id }) => id));
  return {
    ...ours,
    payments,
    refunds: ours.refunds.filter(({ payment_id: payment }) => real.has(payment)),
    disputes: ours.disputes.filter(({ stripe_id: id }) => isReal(id)),
    subscriptions: ours.subscriptions.filter(({ stripe_id: id }) => isReal(id)),
  };
}

export async function readOurs(stage: LifeStage): Promise<Ours> {
  const states = await stage.rows<{ id: string; state: string }>("select id, state from capacity.requests");
  const payments = await stage.rows<OurPayment>(paymentsQuery);
  const refunds = await stage.rows<OurRefund>(
    "select id, request_id, stripe_id, state, amount::float8 as amount, origin, reason, payment_id from billing.refunds",
  );
  return {
    states: new Map(states.map(({ id, state }) => [id, state])),
    payments,
    refunds,
    requestOf: new Map([...payments, ...refunds].map(({ id, request_id: request }) => [id, request])),
    disputes: await stage.rows<OurThing>(
      "select request_id, stripe_id, status as state, amount::float8 as amount from billing.disputes",
    ),
    subscriptions: await stage.rows<OurThing>(
      "select request_id, stripe_id, state, 0::float8 as amount from billing.subscriptions where stripe_id is not null",
    ),
    findings: await stage.rows<OurFinding>(
      "select request_id, kind, stripe_id, said from billing.findings where resolved_at is null",
    ),
  };
}

const paymentsQuery = `
  select p.id, p.request_id, p.purpose, p.payment_intent, p.invoice_id, p.session_id, p.currency, p.amount::float8 as amount, p.counts,
         p.refund_reason,
         (select f.held_by from billing.refunds f where f.payment_id = p.id and f.state = 'held' limit 1) as held_by,
         exists (select from capacity.notices n where n.request_id = p.request_id and n.kind in ('payment', 'refund')
                    and n.said ~ 'An operator (sees to|looks at) it') as told,
         exists (select from capacity.notices n where n.request_id = p.request_id and n.kind in ('payment', 'refund')
                    and n.said ~ '^Stripe did not make the refund.*An operator (sees to|looks at) it') as unmade
    from billing.payments p`;

/** Items that must be gone once everything has come to rest. */
export const stuckQuery = `
  select null as request, format('what Stripe said of %s is not read', outbox_key) as what from billing.sightings
  union all
  select c.request_id, format('checkout %s is %s', c.number, c.state) from billing.checkouts c
   where c.state in ('asked', 'open', 'processing', 'abandoned')
  union all
  select f.request_id, format('a refund of %s is %s (%s)', f.amount, f.state, f.held_by) from billing.refunds f
   where f.state in ('sent', 'pending') or f.held_by = 'payment_intent'
      or f.held_by = 'dispute' and not exists (select from billing.disputes d where d.payment_id = f.payment_id and d.outcome = 'open')
  union all
  select p.request_id, format('payment %s has no id at Stripe', p.id) from billing.payments p where p.payment_intent is null
  union all
  select r.id, format('%s waits for its customer', r.id) from capacity.requests r where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED'`;

/** The rows that a relay may send; a lane blocked by a dead letter waits for the sweep or a person. */
export const sendableQuery = `
  select from outbox.pending p
    join outbox.lanes l on l.lane_id = p.lane_id
    join outbox.streams s on s.stream_id = l.stream_id and s.name in ('billing', 'payments', 'refunds', 'subscriptions')
   where p.due <= now() + interval '5 seconds'
     and (s.on_dead = 'skip'
          or not exists (select from outbox.dead d join outbox.payloads m on m.outbox_id = d.outbox_id where m.lane_id = p.lane_id))`;
