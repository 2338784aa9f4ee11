/**
 * The rail `stripe`: makes and ends Checkout sessions, refunds payments, cancels subscriptions, and reads the state of objects.
 *
 * Owns: which operation a row asks for. Does not own: the operations (a file each), or what is owed to whom.
 */
import { openConnections } from "../exchange.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import type {
  Json,
  LookupOutcome,
  Rail,
  RailContext,
  RailMessage,
  RailOutcome,
  Validation,
} from "../../contract/rail.ts";
import { reasonOf } from "../reason.ts";
import { createStripeCall, type StripeCall } from "./call.ts";
import { cancelSubscription, findCancelled } from "./cancel-subscription.ts";
import { stripeCodes } from "./codes.ts";
import { stripeSettingsSchema, type StripeSettings } from "./config.ts";
import { createCheckout, findCheckout } from "./create-checkout.ts";
import { expireCheckout, findExpired } from "./expire-checkout.ts";
import { list } from "./list.ts";
import { look } from "./look.ts";
import { stripeMessageSchema } from "./message.ts";
import { findRefund, makeRefund } from "./refund.ts";

export interface StripeRailOptions extends StripeSettings {
  /** Hard limit of one try with all its calls, and of one search. Default: 20,000. */
  readonly timeoutMs?: number;
  /** How many rows are under way at the same time. Default: 20. */
  readonly concurrency?: number;
}

export interface StripeRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = { timeoutMs: 20_000, concurrency: 20 } satisfies Partial<StripeRailOptions>;

export function createStripeRail(options: StripeRailOptions): StripeRail {
  const { timeoutMs, concurrency } = { ...defaults, ...options };
  const settings = requireSettings("stripe", stripeSettingsSchema, options);
  const connections = openConnections();
  const call = createStripeCall(settings, connections);
  return {
    name: "stripe",
    capability: "lookup",
    timeoutMs,
    concurrency,
    codes: Object.keys(stripeCodes),
    validate: ({ payload }) => validate(payload),
    send: (message, context) => send(call, message, context),
    lookup: (message, context) => lookUp(call, message, context),
    close: () => connections.close(),
  };
}

function validate(payload: Json): Validation {
  const parsed = stripeMessageSchema.safeParse(payload);
  return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
}

function send(call: StripeCall, message: RailMessage, { signal }: RailContext): Promise<RailOutcome> {
  const asked = stripeMessageSchema.parse(message.payload);
  switch (asked.operation) {
    case "checkout.create":
      return createCheckout(call, asked, message, signal);
    case "checkout.expire":
      return expireCheckout(call, asked, message, signal);
    case "refund":
      return makeRefund(call, asked, message, signal);
    case "subscription.cancel":
      return cancelSubscription(call, asked, signal);
    case "look":
      return look(call, asked, signal);
    default:
      return list(call, asked, signal);
  }
}

async function lookUp(call: StripeCall, message: RailMessage, { signal }: RailContext): Promise<LookupOutcome> {
  const asked = stripeMessageSchema.parse(message.payload);
  switch (asked.operation) {
    case "checkout.create":
      return await findCheckout(call, asked, message, signal);
    case "checkout.expire":
      return await findExpired(call, asked, signal);
    case "refund":
      return await findRefund(call, asked, signal);
    case "subscription.cancel":
      return await findCancelled(call, asked, signal);
    default:
      // Reading again is as good as knowing the earlier answer.
      return { kind: "absent" };
  }
}
