/**
 * The rails `slack` and `slack-interaction`: post and change messages, and answer a click or a command.
 *
 * Owns: turning a row into a call and an answer into an outcome. Does not own: Block Kit (rendered in SQL), order and
 * rate limits (the engine's; a destination is a channel), or what Slack sends us.
 */
import { z } from "zod";
import { outcomeOfCode } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";
import { openConnections } from "../exchange.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import type { LookupOutcome, Rail, RailContext, RailMessage, RailOutcome, Validation } from "../../contract/rail.ts";
import { reasonOf } from "../reason.ts";
import { createVisibility } from "../visibility.ts";
import type { Visibility } from "../visibility.ts";
import { createSlackCall } from "./call.ts";
import type { SlackCall, SlackFailure } from "./call.ts";
import { slackCodes, slackInteractionCodes } from "./codes.ts";
import type { SlackCodeName } from "./codes.ts";
import { slackSettingsSchema } from "./config.ts";
import type { SlackSettings } from "./config.ts";
import { findMessage } from "./lookup.ts";
import type { Search } from "./lookup.ts";
import { interactionSchema, markOf, messageSchema } from "./message.ts";

export interface SlackRailOptions extends SlackSettings {
  /** Hard limit of one call, and of one search for a message. Default: 15,000; for interactions 5,000. */
  readonly timeoutMs?: number;
  /** Calls under way at once. Default: the relay's own limit. */
  readonly concurrency?: number;
  /** How long after a try with unknown outcome a message may still appear that was not found. Default: 2,000. */
  readonly visibleAfterMs?: number;
}

export interface SlackRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = { timeoutMs: 15_000, visibleAfterMs: 2_000 } satisfies Partial<SlackRailOptions>;
/** A trigger is valid for three seconds; a person who waits longer for a modal has clicked again. */
const interactionDefaults = { timeoutMs: 5_000 } satisfies Partial<SlackRailOptions>;

export function createSlackRail(options: SlackRailOptions): SlackRail {
  const { timeoutMs, concurrency, visibleAfterMs } = { ...defaults, ...options };
  const visibility = createVisibility(visibleAfterMs);
  const connections = openConnections();
  const call = createSlackCall(requireSettings("slack", slackSettingsSchema, options), connections);
  return {
    name: "slack",
    capability: "lookup",
    timeoutMs,
    ...(concurrency === undefined ? {} : { concurrency }),
    codes: Object.keys(slackCodes),
    validate: ({ payload }) => validateBy(messageSchema, payload),
    send: (message, context) => visibility.during(message.outboxId, () => sendMessage(call, message, context)),
    lookup: (message, context) => lookUp(call, visibility, message, context),
    close: () => connections.close(),
  };
}

export function createSlackInteractionRail(options: SlackRailOptions): SlackRail {
  const { timeoutMs, concurrency } = { ...interactionDefaults, ...options };
  const connections = openConnections();
  const call = createSlackCall(requireSettings("slack-interaction", slackSettingsSchema, options), connections);
  return {
    name: "slack-interaction",
    capability: "blind",
    timeoutMs,
    ...(concurrency === undefined ? {} : { concurrency }),
    codes: Object.keys(slackInteractionCodes),
    validate: ({ payload }) => validateBy(interactionSchema, payload),
    send: (message, context) => sendInteraction(call, message, context),
    close: () => connections.close(),
  };
}

function validateBy(schema: z.ZodType, payload: unknown): Validation {
  const parsed = schema.safeParse(payload);
  return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
}

const postedSchema = z.object({ channel: z.string().min(1), ts: z.string().min(1) });

async function sendMessage(call: SlackCall, message: RailMessage, { signal }: RailContext): Promise<RailOutcome> {
  const payload = messageSchema.parse(message.payload);
  const { method, token: _token, ...given } = payload;
  const args = payload.method === "chat.update" ? given : { ...given, metadata: markOf(payload, message) };
  const answer = await call(method, args, signal);
  if (answer.kind === "failure") return outcomeOf(answer, slackCodes);
  const posted = postedSchema.safeParse(answer.result);
  if (!posted.success) return outcomeOf({ kind: "failure", code: "bad_answer" }, slackCodes);
  const { channel, ts } = posted.data;
  return { kind: "delivered", code: "ok", reference: `${channel}/${ts}`, response: { ok: true, channel, ts } };
}

/**
 * An update needs no search: whether or not an earlier try arrived, sending it again leads to the same message. Nothing
 * can have come in between, as later rows of the lane wait. So it is reported absent, and the engine sends it again.
 */
async function lookUp(
  call: SlackCall,
  visibility: Visibility,
  message: RailMessage,
  { signal }: RailContext,
): Promise<LookupOutcome> {
  const payload = messageSchema.parse(message.payload);
  if (payload.method === "chat.update") return { kind: "absent" };
  const found = missedTooSoon(await findMessage(call, payload, message, signal), visibility, message);
  if (found.kind !== "failure") return found;
  const { code, afterMs } = found;
  return {
    kind: "unavailable",
    code,
    reason: wording(found, slackCodes),
    ...(afterMs === undefined ? {} : { afterMs }),
  };
}

function missedTooSoon(found: Search, visibility: Visibility, message: RailMessage): Search {
  if (found.kind !== "absent" || !message.uncertain) return found;
  const afterMs = visibility.missed(message.outboxId);
  return afterMs === 0 ? found : { kind: "failure", code: "may_still_appear", afterMs };
}

async function sendInteraction(call: SlackCall, message: RailMessage, { signal }: RailContext): Promise<RailOutcome> {
  const { method, token: _token, ...args } = interactionSchema.parse(message.payload);
  const answer = await call(method, args, signal);
  if (answer.kind === "ok") return { kind: "delivered", code: "ok" };
  // An earlier try of this row used the trigger, so its modal is open.
  if (answer.code === "exchanged_trigger_id" && message.tryNo > 1) return { kind: "delivered", code: answer.code };
  return outcomeOf(answer, slackInteractionCodes);
}

function outcomeOf(failure: SlackFailure, codes: Readonly<Record<SlackCodeName, RailCode>>): RailOutcome {
  return outcomeOfCode(codes[failure.code].outcome, failure.code, wording(failure, codes), failure);
}

function wording({ code, detail }: SlackFailure, codes: Readonly<Record<SlackCodeName, RailCode>>): string {
  const { meaning } = codes[code];
  return reasonOf(detail === undefined ? meaning : `${meaning} (${detail})`);
}
