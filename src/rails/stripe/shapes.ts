/**
 * The fields of Stripe's objects that are kept: few, because they are stored with the row that brought them.
 *
 * They have the same names as in Stripe's events, so that one reader reads both. Older versions of the API are read as well: a subscription
 * used to have a period, which its items have now, and an invoice used to name its subscription and its payment, and now has a parent and
 * a list of payments.
 *
 * Owns: which fields are kept, and where each version has them. Does not own: what they mean to us.
 */
import { z } from "zod";
import type { Json } from "../../contract/rail.ts";

/** An object with an id, as captures keep it. */
export type Compact = { readonly id: string } & { [name: string]: Json };

export interface Fields {
  readonly [name: string]: Json;
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const id = z.string().min(1).max(255);
const word = z.string().max(100).nullish().transform(orNull);
const moment = z.int().nullish().transform(orNull);
const amount = z.int().nullish().transform(orNull);
const livemode = z.boolean().nullish().transform(orNull);
const address = z.string().max(4_000).nullish().transform(orNull);

/** Another object: its id, or the whole object if it was expanded. */
const reference = z
  .union([id, z.object({ id })])
  .nullish()
  .transform((given) => (typeof given === "object" ? (given?.id ?? null) : (given ?? null)));

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}

const prefix = "headroom_";

/** Only the metadata that we wrote: the rest belongs to others. */
const metadata = z
  .record(z.string(), z.string().max(500))
  .nullish()
  .catch(null)
  .transform((given) => Object.fromEntries(Object.entries(given ?? {}).filter(([name]) => name.startsWith(prefix))));

const invoicePayment = z.object({
  status: word,
  payment: z.object({ payment_intent: reference }),
});

const invoiceFields = z.object({
  object: z.literal("invoice"),
  id,
  status: word,
  amount_paid: amount,
  currency: word,
  billing_reason: word,
  period_end: moment,
  created: moment,
  status_transitions: z.object({ paid_at: moment }).nullish().catch(null),
  livemode,
  metadata,
  /** Older versions. */
  subscription: reference,
  payment_intent: reference,
  subscription_details: z.object({ metadata }).nullish().catch(null),
  /** Newer ones. */
  parent: z
    .object({ subscription_details: z.object({ subscription: reference, metadata }).nullish() })
    .nullish()
    .catch(null),
  payments: z
    .object({ data: z.array(invoicePayment) })
    .nullish()
    .catch(null),
  lines: z
    .object({ data: z.array(z.object({ period: z.object({ end: z.int() }) })) })
    .nullish()
    .catch(null),
});

type InvoiceFields = z.infer<typeof invoiceFields>;

function paymentOf({ payments, payment_intent: older }: InvoiceFields): string | null {
  const made = payments?.data ?? [];
  const paid = made.find(({ status }) => status === "paid") ?? made[0];
  return paid?.payment.payment_intent ?? older;
}

const invoice = invoiceFields.transform((given) => ({
  object: given.object,
  id: given.id,
  status: given.status,
  amount_paid: given.amount_paid,
  currency: given.currency,
  billing_reason: given.billing_reason,
  subscription: given.parent?.subscription_details?.subscription ?? given.subscription,
  payment_intent: paymentOf(given),
  // The invoice's own period is the previous one; its lines say what it pays for.
  period_end: given.lines?.data.reduce((end, { period }) => Math.max(end, period.end), 0) || given.period_end,
  created: given.created,
  paid_at: given.status_transitions?.paid_at ?? null,
  livemode: given.livemode,
  metadata: {
    ...given.subscription_details?.metadata,
    ...given.parent?.subscription_details?.metadata,
    ...given.metadata,
  },
}));

const session = z
  .object({
    object: z.literal("checkout.session"),
    id,
    status: word,
    payment_status: word,
    amount_total: amount,
    currency: word,
    mode: word,
    url: address,
    expires_at: moment,
    created: moment,
    customer: reference,
    payment_intent: z.union([z.object({ id, latest_charge: reference }), reference]),
    subscription: reference,
    invoice: z.union([invoice, reference]),
    livemode,
    metadata,
  })
  .transform((given) => {
    const intent = typeof given.payment_intent === "object" ? given.payment_intent : { id: given.payment_intent };
    const bill = given.invoice !== null && typeof given.invoice === "object" ? given.invoice : null;
    return {
      ...given,
      invoice: bill?.id ?? (typeof given.invoice === "string" ? given.invoice : null),
      // A session that began a subscription names its payment by the invoice alone.
      payment_intent: intent?.id ?? bill?.payment_intent ?? null,
      charge: intent !== null && "latest_charge" in intent ? intent.latest_charge : null,
    };
  });

const paymentIntent = z.object({
  object: z.literal("payment_intent"),
  id,
  status: word,
  amount_received: amount,
  currency: word,
  latest_charge: reference,
  invoice: reference,
  metadata,
});

const refund = z.object({
  object: z.literal("refund"),
  id,
  status: word,
  amount: amount,
  currency: word,
  payment_intent: reference,
  charge: reference,
  failure_reason: word,
  created: moment,
  metadata,
});

const dispute = z.object({
  object: z.literal("dispute"),
  id,
  status: word,
  amount: amount,
  currency: word,
  payment_intent: reference,
  charge: reference,
  reason: word,
  created: moment,
});

const subscription = z
  .object({
    object: z.literal("subscription"),
    id,
    status: word,
    cancel_at: moment,
    cancel_at_period_end: z.boolean().nullish().transform(orNull),
    canceled_at: moment,
    ended_at: moment,
    current_period_end: moment,
    items: z
      .object({ data: z.array(z.object({ current_period_end: moment })) })
      .nullish()
      .catch(null),
    metadata,
    latest_invoice: reference,
  })
  .transform(({ items, ...given }) => {
    const ends = (items?.data ?? []).flatMap(({ current_period_end: end }) => end ?? []);
    return { ...given, current_period_end: ends.length > 0 ? Math.max(...ends) : given.current_period_end };
  });

/** The object of each event that a comparison asks for, as it was at the event, not as it is now. */
const changes = {
  "invoice.paid": invoice,
  "refund.updated": refund,
  "refund.failed": refund,
  "charge.dispute.updated": dispute,
  "charge.dispute.closed": dispute,
  "charge.dispute.funds_withdrawn": dispute,
  "charge.dispute.funds_reinstated": dispute,
} as const;

type ChangeType = keyof typeof changes;

function isChange(type: string): type is ChangeType {
  return Object.hasOwn(changes, type);
}

export const changeTypes: ChangeType[] = Object.keys(changes).filter(isChange);

const change = z
  .object({
    object: z.literal("event"),
    id,
    type: z.string().max(100),
    created: moment,
    account: z.string().nullish(),
    data: z.object({ object: z.unknown() }),
  })
  .transform(({ account, data, ...given }) => {
    // The object has the version of the API that the account had. If it cannot be read, the other lists have it too. An event with
    // an account is of an account that is connected to ours.
    const object =
      isChange(given.type) && account == null ? changes[given.type].safeParse(data.object).data : undefined;
    return { ...given, data: { object: object ?? null } };
  });

const shapes = { session, payment_intent: paymentIntent, refund, dispute, subscription, invoice, change } as const;

export type CompactKind = keyof typeof shapes;

/** Undefined if it is not such an object: nothing is guessed. */
export function compactOf(kind: CompactKind, object: unknown): Compact | undefined {
  return shapes[kind].safeParse(object).data;
}

export interface CompactPage {
  readonly objects: readonly Compact[];
  /** The objects that cannot be read, with the little of them that can. */
  readonly unread: readonly Barely[];
  /** The id after which the next page begins; null at the end. */
  readonly cursor: string | null;
}

const pageSchema = z.object({ data: z.array(z.unknown()), has_more: z.boolean() });
const barely = z.object({ id, metadata });

/** The id and the metadata of an object that cannot be read otherwise. */
export type Barely = z.infer<typeof barely>;

/** The objects of a page, readable or not; undefined if it is not a page, or does not say where the next one starts. */
export function compactPage(kind: CompactKind, page: unknown): CompactPage | undefined {
  const parsed = pageSchema.safeParse(page).data;
  if (parsed === undefined) return undefined;
  const objects: Compact[] = [];
  const unread: Barely[] = [];
  for (const each of parsed.data) {
    const object = compactOf(kind, each);
    if (object === undefined) unread.push(barely.safeParse(each).data ?? { id: "", metadata: {} });
    else objects.push(object);
  }
  const last = barely.safeParse(parsed.data.at(-1)).data?.id ?? null;
  if (parsed.has_more && last === null) return undefined;
  return { objects, unread, cursor: parsed.has_more ? last : null };
}

/** The object of an event; undefined if it could not be read. */
export function changedIn(event: Fields): Fields | undefined {
  const { data } = event;
  return isFields(data) && isFields(data["object"]) ? data["object"] : undefined;
}

/** The value of one of our names in the object's metadata. */
export function markOf(object: Fields, name: `headroom_${string}`): string | undefined {
  const written = object["metadata"];
  if (!isFields(written)) return undefined;
  const value = written[name];
  return typeof value === "string" ? value : undefined;
}
