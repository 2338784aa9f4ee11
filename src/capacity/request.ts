/**
 * A capacity request and everything that belongs to it, in TypeScript. The database gives rows and JSON under its own names; here they are
 * checked once and get ours.
 */
import { z } from "zod";
import { digitsOf } from "../db/values/exact-json.ts";
import { jobSchema } from "./job.ts";
import type { CapacityRequestActorType, CapacityRequestEventType, CapacityRequestState } from "../db/generated.gen.ts";

export type { CapacityRequestActorType, CapacityRequestEventType, CapacityRequestState };

export const requestStates = [
  "SUBMITTED",
  "UNDER_REVIEW",
  "CUSTOMER_CONFIRMATION_REQUIRED",
  "PROVISIONING",
  "COMPLETED",
  "REJECTED",
  "CANCELLED",
  "EXPIRED",
  "FAILED",
] as const satisfies readonly CapacityRequestState[];

export const openStates = [
  "UNDER_REVIEW",
  "CUSTOMER_CONFIRMATION_REQUIRED",
  "PROVISIONING",
] as const satisfies readonly CapacityRequestState[];

const state = z.enum(requestStates);
/** A Date from a row, or the text of one from JSON. */
const moment = z.coerce.date();
const maybeMoment = moment.nullable();
const maybeText = z.string().nullable();
/** Money keeps its digits: text from a row, a number of any length from JSON. */
const money = z.union([z.string(), z.unknown().transform(digitsOf).pipe(z.string())]).nullable();

export const personSchema = z.object({ id: z.string(), name: z.string() });
/** A member with their name. */
export type Person = z.infer<typeof personSchema>;

export const askedSchema = personSchema
  .extend({ reason: z.enum(["owner", "delegate", "authority", "group"]), stands_for: maybeText })
  .transform(({ stands_for: standsFor, ...rest }) => ({ ...rest, standsFor }));
/** Somebody whose turn it is, and why; a delegate stands for another member. */
export type Asked = z.infer<typeof askedSchema>;

export const planSchema = z.object({
  commercial: z.object({
    owner: maybeText,
    authority: z.object({
      kind: z.enum(["owner", "role", "member"]),
      role: z.string().optional(),
      member: z.string().optional(),
    }),
    auto: z.boolean(),
    rule: maybeText,
    why: maybeText,
    reviewers: z.array(personSchema),
  }),
  technical: z.object({
    group: maybeText,
    auto: z.boolean(),
    rule: maybeText,
    why: maybeText,
    reviewers: z.array(personSchema),
  }),
});
/** Who must approve and by which rule. */
export type ReviewPlan = z.infer<typeof planSchema>;

/** Why the customer has not been asked by mail, or, before the reviews are done, will not be. */
export const unaskedReasons = [
  "no_address",
  "bad_address",
  "no_public_url",
  "mail_failed",
  "not_sent",
  "erased",
] as const;
export const unaskedSchema = z.enum(unaskedReasons).nullable();
export type Unasked = (typeof unaskedReasons)[number];

export const offerSchema = z
  .object({
    price_id: z.string(),
    kind: z.enum(["one_off", "recurring"]),
    currency: z.string(),
    unit_amount: z.number(),
    quantity: z.number(),
    amount: z.number(),
    interval: z.literal("month").nullable(),
    duration_days: z.number().nullable(),
    monthly_usd: money,
    words: z.string(),
  })
  .transform((offer) => ({
    priceId: offer.price_id,
    kind: offer.kind,
    currency: offer.currency,
    /** Of one instance, in minor units as Stripe counts them. */
    unitAmount: offer.unit_amount,
    quantity: offer.quantity,
    /** Of all, in minor units as Stripe counts them. */
    amount: offer.amount,
    /** Null: paid once. */
    interval: offer.interval,
    durationDays: offer.duration_days,
    /** Its monthly worth, which escalation uses. Null: no exchange rate is known. */
    monthlyUsd: offer.monthly_usd,
    /** The amount for people, such as `USD 1,200.00`. */
    words: offer.words,
  }))
  .nullable();
/** The price of a request, as it was when it was submitted. Null: the customer confirms without paying. */
export type RequestOffer = z.infer<typeof offerSchema>;

export const requestSchema = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    version: z.number(),
    state,
    state_since: moment,
    created_at: moment,
    updated_at: moment,
    requester_user_id: z.string(),
    commercial_owner_user_id: maybeText,
    infra_owner_group: maybeText,
    customer_ref: z.json(),
    requested_size: z.string(),
    quantity: z.number(),
    region: z.string(),
    needed_by_date: maybeText,
    expected_duration_days: z.number().nullable(),
    estimated_monthly_cost_usd: money,
    confirmation_ttl_days: z.number(),
    review_plan: planSchema,
    commercial_endorsed_at: maybeMoment,
    commercial_endorsed_by: maybeText,
    commercial_approved_at: maybeMoment,
    commercial_approved_by: maybeText,
    technical_approved_at: maybeMoment,
    technical_approved_by: maybeText,
    next_deadline_at: maybeMoment,
    rejection_reason: maybeText,
    cancellation_reason: maybeText,
    cancellation_authorizer_user_id: maybeText,
    replaces_request_id: maybeText,
    slack_channel_id: maybeText,
    slack_thread_ts: maybeText,
    linear_issue_id: maybeText,
    last_notified_at: maybeMoment,
    customer_unasked: unaskedSchema,
    customer_id: maybeText,
    offer: offerSchema,
    justification: maybeText,
  })
  .transform((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    version: row.version,
    state: row.state,
    stateSince: row.state_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    requester: row.requester_user_id,
    commercialOwner: row.commercial_owner_user_id,
    infraGroup: row.infra_owner_group,
    customerRef: row.customer_ref,
    size: row.requested_size,
    quantity: row.quantity,
    region: row.region,
    neededBy: row.needed_by_date,
    durationDays: row.expected_duration_days,
    monthlyCostUsd: row.estimated_monthly_cost_usd,
    confirmationTtlDays: row.confirmation_ttl_days,
    reviewPlan: row.review_plan,
    endorsedAt: row.commercial_endorsed_at,
    endorsedBy: row.commercial_endorsed_by,
    commercialApprovedAt: row.commercial_approved_at,
    commercialApprovedBy: row.commercial_approved_by,
    technicalApprovedAt: row.technical_approved_at,
    technicalApprovedBy: row.technical_approved_by,
    deadlineAt: row.next_deadline_at,
    rejectionReason: row.rejection_reason,
    cancellationReason: row.cancellation_reason,
    cancelledBy: row.cancellation_authorizer_user_id,
    replaces: row.replaces_request_id,
    slackChannelId: row.slack_channel_id,
    slackThreadTs: row.slack_thread_ts,
    linearIssueId: row.linear_issue_id,
    lastNotifiedAt: row.last_notified_at,
    /** Null where the customer was asked or will be, and once the request has ended. */
    customerUnasked: row.customer_unasked,
    /** The given id; else, and after an erasure, the keyed hash that identifies the customer. Null if there is none. */
    customerId: row.customer_id,
    /** What the customer pays to confirm. */
    offer: row.offer,
    /** Why it is needed. Null if nobody said so, and after an erasure. */
    justification: row.justification,
  }));
export type CapacityRequest = z.infer<typeof requestSchema>;

const eventSchema = z
  .object({
    seq: z.number(),
    id: z.string(),
    event_type: z.custom<CapacityRequestEventType>((value) => typeof value === "string"),
    actor_type: z.custom<CapacityRequestActorType>((value) => typeof value === "string"),
    actor_id: z.string(),
    via: z.string(),
    state_before: state,
    state_after: state,
    payload: z.record(z.string(), z.json()),
    created_at: moment,
    hash: z.string(),
  })
  .transform((row) => ({
    seq: row.seq,
    id: row.id,
    type: row.event_type,
    actorType: row.actor_type,
    actorId: row.actor_id,
    via: row.via,
    stateBefore: row.state_before,
    stateAfter: row.state_after,
    payload: row.payload,
    at: row.created_at,
    hash: row.hash,
  }));
export type CapacityEvent = z.infer<typeof eventSchema>;

const pendingSchema = z
  .object({
    step: z.enum(["commercial", "technical"]),
    since: moment,
    why: maybeText,
    group: maybeText.optional(),
    authority: z.json().optional(),
    asked: z.array(askedSchema),
    reviewers: z.array(personSchema),
    endorsers: z.array(personSchema).optional(),
  })
  .transform(({ endorsers = [], group = null, authority = null, ...rest }) => ({
    ...rest,
    group,
    authority,
    endorsers,
  }));
/** An open review step: whom it waits on, whose approval would count, and whose would be an endorsement. */
export type PendingApproval = z.infer<typeof pendingSchema>;

const deliverySchema = z
  .looseObject({
    effect: z.string(),
    endpoint: z.string().optional(),
    event_seq: z.number().nullable(),
    notice_id: z.number().nullable(),
    rail: maybeText,
    outbox_id: z.string(),
    enqueued_at: moment,
    place: z.string(),
    error_code: z.string().optional(),
  })
  .transform((row) => ({
    effect: row.effect,
    /** The name of the endpoint in the request's workspace, if it is one of its own. */
    endpoint: row.endpoint ?? null,
    eventSeq: row.event_seq,
    noticeId: row.notice_id,
    rail: row.rail,
    outboxId: row.outbox_id,
    enqueuedAt: row.enqueued_at,
    place: row.place,
    errorCode: row.error_code ?? null,
  }));
export type Delivery = z.infer<typeof deliverySchema>;

const noticeSchema = z
  .object({
    id: z.number(),
    kind: z.enum([
      "warning",
      "reminder",
      "late",
      "nudge",
      "note",
      "unasked",
      "address",
      "link",
      "job",
      "payment",
      "payment_failed",
    ]),
    step: maybeText,
    member_id: maybeText,
    actor_type: z.string(),
    actor_id: z.string(),
    via: z.string(),
    said: maybeText,
    body: maybeText,
    created_at: moment,
  })
  .transform((row) => ({
    id: row.id,
    kind: row.kind,
    step: row.step,
    memberId: row.member_id,
    actorType: row.actor_type,
    actorId: row.actor_id,
    via: row.via,
    /** The system's own words; those of people and of runs are in the body. */
    said: row.said,
    body: row.body,
    at: row.created_at,
  }));
export type Notice = z.infer<typeof noticeSchema>;

export const erasureSchema = z
  .object({
    request_id: z.string(),
    state: z.enum(["waiting", "done"]),
    erased_at: moment,
    erased_by: z.string(),
    why: z.string(),
    finished_at: moment.nullable(),
    texts: z.number(),
    messages: z.object({ erased: z.number(), skipped: z.number(), waiting: z.number() }),
  })
  .transform((row) => ({
    requestId: row.request_id,
    state: row.state,
    at: row.erased_at,
    by: row.erased_by,
    why: row.why,
    finishedAt: row.finished_at,
    texts: row.texts,
    messages: row.messages,
  }));
/** The progress of erasing a customer. While it waits, messages on their way still name the customer. */
export type Erasure = z.infer<typeof erasureSchema>;

/** Everything about one request. */
export const storySchema = z
  .object({
    request: requestSchema,
    history: z.array(eventSchema),
    pending_approvals: z.array(pendingSchema),
    deliveries: z.array(deliverySchema),
    jobs: z.array(jobSchema),
    notices: z.array(noticeSchema),
    /** The customer's address, why they were not asked, and who can fix that. */
    customer: z.object({ address: maybeText, unasked: unaskedSchema, fixers: z.array(personSchema) }),
    erasure: erasureSchema.nullable(),
  })
  .transform(({ pending_approvals: pendingApprovals, ...rest }) => ({ ...rest, pendingApprovals }));
export type RequestStory = z.infer<typeof storySchema>;
