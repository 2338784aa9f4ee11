/**
 * Recording an event on a request, for a member.
 *
 * Owns: the payload that each event takes, and telling a decision from its repeat. Does not own: who may do what, which the
 * database decides.
 */
import { call, type Queryable } from "../db/call.ts";
import { getRequest } from "./get-request.ts";
import { refusable, type Refused } from "./refusal.ts";
import { requestSchema, type CapacityEvent, type CapacityRequest, type RequestStory } from "./request.ts";

/** What a member can do to a request. Being told no comes with a reason. */
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
  /** The member who acts, by id or Slack id. */
  readonly as: string;
  /** Refuse with `stale_version` when the request has moved on since it was read. */
  readonly expectedVersion?: number | undefined;
}

export type Recorded = { readonly outcome: "recorded"; readonly request: CapacityRequest };

/** Records the event. A repeat of a decision is no error: the request comes back as it is. */
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

/** The log names members; for somebody named by a Slack id, whatever came since the first look is taken for theirs. */
const slackId = /^[UW][A-Z0-9]{2,31}$/;

export type Decided =
  /** Taken now. `counts`: false for an endorsement, which leaves the decision to a higher authority. */
  | {
      readonly outcome: "decided";
      readonly story: RequestStory;
      readonly event: CapacityEvent;
      readonly counts: boolean;
    }
  /** Taken before; nothing was changed. */
  | { readonly outcome: "repeated"; readonly story: RequestStory; readonly event: CapacityEvent };

/** Records the event and says whether it was this call that decided, or who had done so before, and when. */
export async function decide(
  db: Queryable,
  requestId: string,
  event: MemberEvent,
  options: EventOptions,
): Promise<Decided | Refused> {
  const before = await getRequest(db, requestId);
  if (before.outcome === "refused") return before;
  const recorded = await applyEvent(db, requestId, event, options);
  if (recorded.outcome === "refused") return recorded;
  const after = await getRequest(db, requestId);
  if (after.outcome === "refused") return after;
  const { story } = after;
  const ofType = story.history.filter(({ type }) => type === event.type);
  const isMine = ({ actorId }: CapacityEvent): boolean => actorId === options.as || slackId.test(options.as);
  const mine = ofType.find((candidate) => candidate.seq > before.story.request.version && isMine(candidate));
  if (mine !== undefined) return { outcome: "decided", story, event: mine, counts: mine.payload["counts"] !== false };
  const first = ofType.find(({ payload }) => payload["counts"] !== false) ?? ofType[0];
  if (first === undefined) throw new Error(`${requestId} took ${event.type} and has no such event.`);
  return { outcome: "repeated", story, event: first };
}
