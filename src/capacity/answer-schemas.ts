/**
 * The answers of the workflow's functions, checked and under our names. Separate from the wrappers that call the database, because the
 * client of the HTTP API reads the same answers where there is no database driver.
 */
import { z } from "zod";
import {
  askedSchema,
  offerSchema,
  personSchema,
  planSchema,
  requestSchema,
  requestStates,
  unaskedSchema,
} from "./request.ts";

const asked = z.array(askedSchema);
export const previewSchema = planSchema
  .extend({
    commercial: planSchema.shape.commercial.extend({ asked }),
    technical: planSchema.shape.technical.extend({ asked }),
    state: z.enum(requestStates),
    slack_channel_id: z.string().nullable(),
    customer_unasked: unaskedSchema,
    offer: offerSchema,
    justification: z.string().nullable(),
  })
  .transform(({ slack_channel_id: slackChannelId, customer_unasked: customerUnasked, ...rest }) => ({
    ...rest,
    slackChannelId,
    customerUnasked,
  }));
/** The plan, whom it would ask first, the request's state, channel and cost, and why its customer would get no mail. */
export type Preview = z.infer<typeof previewSchema>;

export const nudgeSchema = z
  .object({
    request_id: z.string(),
    notice_id: z.number(),
    next_nudge_at: z.coerce.date(),
    effects: z.array(z.string()),
    asked: z.array(personSchema),
  })
  .transform((answer) => ({
    outcome: "nudged" as const,
    requestId: answer.request_id,
    noticeId: answer.notice_id,
    nextNudgeAt: answer.next_nudge_at,
    effects: answer.effects,
    asked: answer.asked,
  }));
/** Whom the nudge asks, by what channel, and when another one is allowed. */
export type Nudged = z.infer<typeof nudgeSchema>;

export const noteSchema = z
  .object({ request_id: z.string(), notice_id: z.number() })
  .transform((row) => ({ outcome: "noted" as const, requestId: row.request_id, noticeId: row.notice_id }));
export type Noted = z.infer<typeof noteSchema>;

export const askingSchema = z
  .object({
    request_id: z.string(),
    repeated: z.boolean(),
    mailed: z.boolean(),
    next_link_at: z.coerce.date().nullable(),
    customer_unasked: unaskedSchema,
  })
  .transform((answer) => ({
    /** `repeated`: that already was the address; nothing was changed. */
    outcome: answer.repeated ? ("repeated" as const) : ("kept" as const),
    requestId: answer.request_id,
    /** Whether the link is on its way to the customer now. */
    mailed: answer.mailed,
    /** When the link may be sent again. */
    nextLinkAt: answer.next_link_at,
    customerUnasked: answer.customer_unasked,
  }));
/** The outcome of setting the customer's address, or of sending the link again. */
export type Asking = z.infer<typeof askingSchema>;

/** What people do with a request, in the order in which verdicts come. */
export const requestActions = [
  "approve_commercial",
  "reject_commercial",
  "approve_technical",
  "reject_technical",
  "confirm",
  "decline",
  "cancel",
  "nudge",
  "note",
  "send_link",
  "retry",
  "complete",
  "fail",
  "clean",
  "refund",
  "end_subscription",
] as const;
export type RequestAction = (typeof requestActions)[number];

export const verdictSchema = z
  .object({
    request_id: z.string(),
    version: z.number().nullable(),
    action: z.enum(requestActions).nullable(),
    target_id: z.string().nullable(),
    allowed: z.boolean(),
    repeated: z.boolean(),
    decided_by: z.string().nullable(),
    decided_at: z.coerce.date().nullable(),
    code: z.string().nullable(),
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    hint: z.string().nullable(),
    rule: z.string().nullable(),
    others: z.array(personSchema.extend({ reason: z.string() })),
  })
  .transform((row) => ({
    requestId: row.request_id,
    /** As of which version of the request; null if the caller may not see it. */
    version: row.version,
    /** Null if the caller may not see the request: then `code` is not_found. */
    action: row.action,
    /** The job or the payment that the action is about. */
    targetId: row.target_id,
    allowed: row.allowed,
    /** It was done before; doing it again changes nothing. */
    repeated: row.repeated,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    /** Why not: as the action itself would refuse. */
    code: row.code,
    reason: row.reason,
    detail: row.detail,
    hint: row.hint,
    /** The rule that asks for somebody in particular. */
    rule: row.rule,
    /** Who else can. */
    others: row.others,
  }));
/** Whether a member may do something with a request now, why not, by which rule, and who can. */
export type Verdict = z.infer<typeof verdictSchema>;

export const decisionSchema = z
  .object({
    request: requestSchema,
    repeated: z.boolean(),
    counts: z.boolean(),
    decided_by: z.string(),
    decided_at: z.coerce.date(),
    // Servers of an earlier release do not say it.
    decided_via: z.string().nullable().default(null),
    answered_at: z.coerce.date().nullable().default(null),
  })
  .transform((answer) => ({
    /** `repeated`: decided before; nothing was changed. */
    outcome: answer.repeated ? ("repeated" as const) : ("decided" as const),
    /** The current request. */
    request: answer.request,
    /** False for an endorsement, which leaves the decision to a higher authority. */
    counts: answer.counts,
    /** The member who decided, now or earlier; or the rule or the customer. */
    decidedBy: answer.decided_by,
    decidedAt: answer.decided_at,
    /** Through which entrance: slack, web, api, linear, `cli:<login>` or `service:<key>`. */
    decidedVia: answer.decided_via,
    /** The server's time of the answer: how long ago that was, whatever the caller's clock says. */
    answeredAt: answer.answered_at,
  }));
export type Decided = z.infer<typeof decisionSchema>;
