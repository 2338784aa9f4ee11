/**
 * What Stripe has since a moment, a page at a time, newest first: by which payments, refunds and disputes are found that nobody told us of.
 *
 * Lists go by when something was created. What happened later to what is older is in the list of events, which Stripe keeps for 30 days.
 *
 * An account may serve others, so what says that it is not ours is left out. A refund or a dispute that was made outside says nothing, and is
 * told: whoever knows its payment knows whose it is.
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

/** A page must fit what a row can bring back. */
const pageSize = 50;

interface Window {
  readonly limit: number;
  readonly created: { readonly gte: number };
  readonly starting_after?: string;
}

interface Kind {
  readonly shape: CompactKind;
  /** Whether all that is ours says so. */
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
  if (answer.kind === "failure") return outcomeOf(answer);
  const read = compactPage(shape, answer.data);
  if (read === undefined) return outcomeOf(unreadable);
  const isMeant = (object: Compact | Barely): boolean => isOurs(object, wanted.installation_id ?? null, isMarked);
  const response = {
    objects: read.objects.filter(isMeant).map(withoutUrl),
    // One that cannot be read stops no other: people look at it.
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
  // All invoices that are ours say so, also in an event.
  if (named === undefined) return !isMarked && object["object"] !== "invoice";
  return installation === null || named === installation;
}

/** A session's address is long, and nobody is sent there from a list. */
function withoutUrl(object: Compact): Compact {
  return Object.hasOwn(object, "url") ? { ...object, url: null } : object;
}
