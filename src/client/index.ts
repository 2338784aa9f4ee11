/**
 * The typed client of the HTTP API, for browsers, Deno, workers and Node: it needs fetch and nothing else.
 *
 *     const headroom = createClient({ url, key: anonKey, token });
 *     const answer = await headroom.decide("CR-2026-000042", { type: "COMMERCIAL_APPROVED" });
 *     if (answer.outcome === "refused") console.log(answer.message, answer.hint);
 *
 * Owns: requests to /rest/v1 and /events, and the form of their answers. Does not own: who may do what. A refusal of the workflow is a
 * value, as in headroom/capacity; all other failures are thrown.
 */
import { z } from "zod";
import {
  askingSchema,
  decisionSchema,
  noteSchema,
  nudgeSchema,
  previewSchema,
  verdictSchema,
  type Asking,
  type Decided,
  type Noted,
  type Nudged,
  type RequestAction,
  type Verdict,
} from "../capacity/answer-schemas.ts";
import type { Created } from "../capacity/create-request.ts";
import type { MemberEvent } from "../capacity/apply-event.ts";
import type { Found } from "../capacity/get-request.ts";
import type { Previewed } from "../capacity/preview-request.ts";
import { checkReceipt, receiptSchema, type Receipt } from "../capacity/receipt.ts";
import type { Receipted } from "../capacity/get-receipt.ts";
import type { Judged } from "../capacity/verdicts.ts";
import type { Refused } from "../db/refusal.ts";
import { jobSchema, type Job } from "../capacity/job.ts";
import { requestSchema, storySchema, type CapacityRequest, type CapacityRequestState } from "../capacity/request.ts";
import { newRequestArguments, termArguments, type NewRequest, type RequestTerms } from "../capacity/terms.ts";
import { subscribe, type LiveEvent, type SubscribeOptions } from "./subscribe.ts";
import { createTransport, type ClientOptions, type Transport } from "./transport.ts";

export type { ClientOptions } from "./transport.ts";
export type { LiveEvent, SubscribeOptions } from "./subscribe.ts";
export type { Asking, CapacityRequest, CapacityRequestState, Created, Decided, Found, MemberEvent, NewRequest, Noted };
export { checkReceipt };
export type { Receipt, Receipted };
export type { Job, Judged, Nudged, Previewed, Refused, RequestAction, RequestTerms, Verdict };

/** A member's token acts as that member; a service's key names the member. */
export interface ActingOptions {
  readonly as?: string | undefined;
}

export interface ListFilter {
  readonly states?: readonly CapacityRequestState[] | undefined;
  readonly requester?: string | undefined;
  /** Default: 50. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The offer behind a customer's link. */
export type Offer = z.infer<typeof offerSchema>;

const offerSchema = z.looseObject({
  status: z.enum(["open", "confirmed", "declined", "expired", "cancelled", "closed"]),
  request_id: z.string(),
  expires_at: z.coerce.date(),
  decided_at: z.coerce.date().nullable(),
});

export type HeadroomClient = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const transport = createTransport(options);
  return {
    ...requestCalls(transport),
    ...decisionCalls(transport),
    ...jobCalls(transport),
    ...linkCalls(transport),
    /** Live updates until the signal ends them; reconnects automatically. For a member's token. */
    subscribe: (listen: (event: LiveEvent) => void, how: SubscribeOptions): Promise<void> =>
      subscribe(options, transport.headers, listen, how),
  };
}

function requestCalls({ rpc, select }: Transport) {
  return {
    create: (terms: NewRequest): Promise<Created | Refused> =>
      rpc("create_capacity_request", newRequestArguments(terms), (row) => ({
        outcome: "created",
        request: requestSchema.parse(row),
      })),
    preview: (terms: RequestTerms): Promise<Previewed | Refused> =>
      rpc("preview_capacity_request", termArguments(terms), (answer) => ({
        outcome: "previewed",
        preview: previewSchema.parse(answer),
      })),
    get: (requestId: string): Promise<Found | Refused> =>
      rpc("get_capacity_request", { p_request_id: requestId }, (answer) => ({
        outcome: "found",
        story: storySchema.parse(answer),
      })),
    /** The texts and hashes of its events, or of one of them, for auditors and admins; checkReceipt() checks it anywhere. */
    receipt: (requestId: string, event?: number): Promise<Receipted | Refused> =>
      rpc("get_capacity_receipt", { p_request_id: requestId, p_seq: event }, (receipt) => ({
        outcome: "receipted",
        receipt: receiptSchema.parse(receipt),
      })),
    /** Newest first, as far as the caller may read them. */
    async list(filter: ListFilter = {}): Promise<readonly CapacityRequest[]> {
      return z.array(requestSchema).parse(await select("capacity_requests", listQuery(filter)));
    },
  };
}

function decisionCalls({ rpc }: Transport) {
  return {
    decide: (
      requestId: string,
      { type, ...payload }: MemberEvent,
      { as, expectedVersion }: ActingOptions & { readonly expectedVersion?: number | undefined } = {},
    ): Promise<Decided | Refused> =>
      rpc(
        "decide_capacity_request",
        {
          p_request_id: requestId,
          p_event_type: type,
          p_payload: payload,
          p_actor_id: as,
          p_expected_version: expectedVersion,
        },
        (answer) => decisionSchema.parse(answer),
      ),
    /** What the caller can do with each of these requests now, why not, by which rule, and who can: at most a hundred at a time. */
    verdicts: (
      requestIds: readonly string[],
      { as, actions }: ActingOptions & { readonly actions?: readonly RequestAction[] | undefined } = {},
    ): Promise<Judged | Refused> =>
      rpc("capacity_verdicts", { p_request_ids: requestIds, p_actions: actions, p_actor_id: as }, (rows) => ({
        outcome: "judged",
        verdicts: z.array(verdictSchema).parse(rows),
      })),
    nudge: (requestId: string, { as }: ActingOptions = {}): Promise<Nudged | Refused> =>
      rpc("nudge_capacity_request", { p_request_id: requestId, p_actor_id: as }, (answer) => nudgeSchema.parse(answer)),
    note: (requestId: string, body: string, { as }: ActingOptions = {}): Promise<Noted | Refused> =>
      rpc("note_capacity_request", { p_request_id: requestId, p_body: body, p_actor_id: as }, (answer) =>
        noteSchema.parse(answer),
      ),
    /** Sets where the customer's link goes; it is mailed immediately while the customer's answer is awaited. */
    setAddress: (requestId: string, email: string, { as }: ActingOptions = {}): Promise<Asking | Refused> =>
      rpc("set_customer_address", { p_request_id: requestId, p_email: email, p_actor_id: as }, (answer) =>
        askingSchema.parse(answer),
      ),
    /** Mails the customer the link again. */
    sendLink: (requestId: string, { as }: ActingOptions = {}): Promise<Asking | Refused> =>
      rpc("send_confirmation_link", { p_request_id: requestId, p_actor_id: as }, (answer) =>
        askingSchema.parse(answer),
      ),
  };
}

/** A job is named by its own id, or by the id of its request. */
function jobCalls({ rpc }: Transport) {
  return {
    getJob: (id: string): Promise<{ readonly outcome: "found"; readonly job: Job } | Refused> =>
      rpc("get_provisioning_job", { p_job_id: id }, (job) => ({ outcome: "found", job: jobSchema.parse(job) })),
    /** Requests another attempt of a failed job; repeating the call requests only one. */
    retryJob: (
      id: string,
      reason: string,
      { as, expectedVersion }: ActingOptions & { readonly expectedVersion?: number | undefined } = {},
    ): Promise<{ readonly outcome: "recorded"; readonly job: Job } | Refused> =>
      rpc(
        "retry_provisioning_job",
        { p_job_id: id, p_reason: reason, p_actor_id: as, p_expected_version: expectedVersion },
        (job) => ({ outcome: "recorded", job: jobSchema.parse(job) }),
      ),
  };
}

function linkCalls({ rpc }: Transport) {
  return {
    /** What the customer's link shows; changes nothing. */
    offer: (token: string): Promise<{ readonly outcome: "shown"; readonly offer: Offer } | Refused> =>
      rpc("describe_confirmation", { p_token: token }, (story) => ({
        outcome: "shown",
        offer: offerSchema.parse(story),
      })),
    /** The customer's answer, by the link's token. */
    confirm: (
      token: string,
      decision: "confirm" | "decline",
      reason?: string,
    ): Promise<{ readonly outcome: "answered"; readonly offer: Offer } | Refused> =>
      rpc("decide_by_token", { p_token: token, p_decision: decision, p_reason: reason }, (story) => ({
        outcome: "answered",
        offer: offerSchema.parse(story),
      })),
  };
}

function listQuery({ states, requester, limit, offset }: ListFilter): URLSearchParams {
  const query = new URLSearchParams({ order: "created_at.desc,id.desc", limit: String(limit ?? 50) });
  if (offset !== undefined) query.set("offset", String(offset));
  if (states !== undefined) query.set("state", `in.(${states.join(",")})`);
  if (requester !== undefined) query.set("requester_user_id", `eq.${requester}`);
  return query;
}
