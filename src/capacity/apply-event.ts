/**
 * Recording an event on a request, for a member.
 *
 * Owns: the payload that each event takes. Does not own: who may do what, and what is a repeat; the database decides both.
 */
import { decisionSchema, type Decided } from "./answer-schemas.ts";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { requestSchema, type CapacityRequest } from "./request.ts";

/** What a member can do to a request. A rejection needs a reason. */
export type MemberEvent =
  | { readonly type: "COMMERCIAL_APPROVED" | "TECH_REVIEW_APPROVED" }
  | { readonly type: "COMMERCIAL_REJECTED" | "TECH_REVIEW_REJECTED" | "CANCEL_APPROVED"; readonly reason: string }
  /** The customer's answer, recorded by the commercial owner on their behalf. */
  | { readonly type: "CUSTOMER_CONFIRMED" }
  | { readonly type: "CUSTOMER_DECLINED"; readonly reason?: string | undefined }
  /** How provisioning ended, by an operator. */
  | { readonly type: "PROVISIONING_COMPLETE" }
  | { readonly type: "PROVISIONING_FAILED"; readonly reason: string };

export interface EventOptions {
  /** The acting member, by id or Slack id. */
  readonly as: string;
  /** Refuse with `stale_version` when the request has moved on since it was read. */
  readonly expectedVersion?: number | undefined;
}

export type Recorded = { readonly outcome: "recorded"; readonly request: CapacityRequest };

/** Records the event. A repeat of a decision is no error: the current request is returned. */
export async function applyEvent(
  db: Queryable,
  requestId: string,
  event: MemberEvent,
  options: EventOptions,
): Promise<Recorded | Refused> {
  return refusable(record(db, requestId, event, options));
}

async function record(db: Queryable, requestId: string, event: MemberEvent, options: EventOptions): Promise<Recorded> {
  const { type, ...payload } = event;
  const row = await call(db, "public.apply_capacity_event", {
    p_request_id: requestId,
    p_event_type: type,
    p_actor_type: "user",
    p_actor_id: options.as,
    p_payload: payload,
    p_expected_version: options.expectedVersion,
  });
  return { outcome: "recorded", request: requestSchema.parse(row) };
}

/** Records the event and says whether this call decided, or who had decided before, and when. */
export async function decide(
  db: Queryable,
  requestId: string,
  event: MemberEvent,
  options: EventOptions,
): Promise<Decided | Refused> {
  return refusable(decideOnce(db, requestId, event, options));
}

async function decideOnce(
  db: Queryable,
  requestId: string,
  event: MemberEvent,
  options: EventOptions,
): Promise<Decided> {
  const { type, ...payload } = event;
  const answer = await call(db, "public.decide_capacity_request", {
    p_request_id: requestId,
    p_event_type: type,
    p_actor_id: options.as,
    p_payload: payload,
    p_expected_version: options.expectedVersion,
  });
  return decisionSchema.parse(answer);
}
