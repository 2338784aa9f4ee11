/**
 * Lists Stripe's objects since a time, a page at a time, newest first, to find payments, refunds and disputes that no webhook reported.
 *
 * Lists are by time of creation. Later changes to older objects are in the list of events, which Stripe keeps for 30 days.
 *
 * An account may serve others, so objects whose metadata says that they are not ours are left out. A refund or a dispute that was made
 * outside has no metadata and is reported: its payment shows whose it is.
 */
import type { Stripe } from "stripe";
import type { RailOutcome } from "../../contract/rail.ts";
import type { StripeCall } from "./call.ts";
import type { List } from "./message.ts";
import { outcomeOf, unreadable } from "./outcomes.ts";
import {
  changedIn,
  changeTypes,
  compactPage,
  markOf,
  type Barely,
  type Compact,
  type CompactKind,
  type Fields,
} from "./shapes.ts";

/** A page must fit into the response of a row. */
const pageSize = 50;

interface Window {
  readonly limit: number;
  readonly created: { readonly gte: number };
  readonly starting_after?: string;
}

interface Kind {
  readonly shape: CompactKind;
  /** Whether all our objects of this kind carry our mark. */
  readonly isMarked: boolean;
  readonly page: (stripe: Stripe, window: Window) => Promise<unknown>;
}

const kinds: Readonly<Record<List["kind"], Kind>> = {
  sessions: {
    shape: "session",
    isMarked: true,
    page: (stripe, window) =>
      stripe.checkout.sessions.list({ ...window, expand: ["data.invoice.payments", "data.payment_intent"] }),
  },
  refunds: { shape: "refund", isMarked: false, page: (stripe, window) => stripe.refunds.list(window) },
  disputes: { shape: "dispute", isMarked: false, page: (stripe, window) => stripe.disputes.list(window) },
  changes: {
    shape: "change",
    isMarked: false,
    page: (stripe, window) => stripe.events.list({ ...window, types: changeTypes }),
  },
  invoices: {
    shape: "invoice",
    isMarked: true,
    page: (stripe, window) => stripe.invoices.list({ ...window, expand: ["data.payments"] }),
  },
};

export async function list(call: StripeCall, wanted: List, signal: AbortSignal): Promise<RailOutcome> {
  const { shape, isMarked, page } = kinds[wanted.kind];
  const after = wanted.cursor ?? null;
  const window: Window = {
    limit: pageSize,
    created: { gte: wanted.since },
    ...(after === null ? {} : { starting_after: after }),
  };
  const answer = await call((stripe) => page(stripe, window), signal);
  // Final: the next comparison asks again, and payments must not wait for a permission that only comparisons need.
  if (answer.kind === "failure")
    return outcomeOf(answer.code === "http_403" ? { ...answer, code: "may_not_list" } : answer);
  const read = compactPage(shape, answer.data);
  if (read === undefined) return outcomeOf(unreadable);
  const isMeant = (object: Compact | Barely): boolean => isOurs(object, wanted.installation_id ?? null, isMarked);
  const response = {
    objects: read.objects.filter(isMeant).map(withoutUrl),
    // An object that cannot be read does not stop the others: people check it.
    unread: read.unread.filter(isMeant).map(({ id }) => id),
    cursor: read.cursor,
  };
  return { kind: "delivered", code: "200", response };
}

function isOurs(given: Compact | Barely, installation: string | null, isMarked: boolean): boolean {
  const fields: Fields = given;
  const object = fields["object"] === "event" ? changedIn(fields) : fields;
  if (object === undefined) return false;
  const named = markOf(object, "headroom_installation");
  // All our invoices carry our mark, also in an event.
  if (named === undefined) return !isMarked && object["object"] !== "invoice";
  return installation === null || named === installation;
}

/** A session's URL is long, and nobody follows it from a list. */
function withoutUrl(object: Compact): Compact {
  return Object.hasOwn(object, "url") ? { ...object, url: null } : object;
}
