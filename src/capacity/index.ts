/**
 * The capacity-request workflow, as a table of contents. Every function here is a thin wrapper over one of the database, which decides
 * everything; a refusal comes back as a value (`outcome: "refused"`), a failure is thrown.
 *
 *     const created = await createRequest(client, { requester: "ann", size: "32XL", quantity: 4, region: "us-east-1" });
 *     if (created.outcome === "refused") console.log(created.message, created.hint);
 */
export { createRequest, type Created } from "./create-request.ts";
export { previewRequest, type Previewed } from "./preview-request.ts";
export type { NewRequest, RequestTerms } from "./terms.ts";
export type { Asking, Decided, Noted, Nudged, Preview, RequestAction, Verdict } from "./answer-schemas.ts";
export { getRequest, type Found } from "./get-request.ts";
export { listRequests, type Listed, type ListedRequest, type ListOptions } from "./list-requests.ts";
export { applyEvent, decide, type EventOptions, type MemberEvent, type Recorded } from "./apply-event.ts";
export { eraseCustomer, type Erased } from "./erase-customer.ts";
export { noteRequest, nudgeRequest } from "./nudge-request.ts";
export { judgeRequests, type Judged } from "./verdicts.ts";
export { getReceipt, type Receipted } from "./get-receipt.ts";
export { checkReceipt, receiptSchema, type Receipt } from "./receipt.ts";
export { makeConfirmationToken, sendLink, setAddress } from "./ask-customer.ts";

/** What a request is. */
export {
  openStates,
  requestStates,
  type Asked,
  type RequestOffer,
  type CapacityEvent,
  type CapacityRequest,
  type CapacityRequestEventType,
  type CapacityRequestState,
  type Delivery,
  type Erasure,
  type Notice,
  type PendingApproval,
  type Person,
  type RequestStory,
  type ReviewPlan,
  type Unasked,
} from "./request.ts";

/** Its provisioning job; acting on one is in "headroom/provisioning". */
export { jobStates, openJobStates, type Job, type JobEvent, type JobRun, type JobState } from "./job.ts";

/** The rules. */
export {
  listPolicies,
  putPolicy,
  removePolicy,
  type Policy,
  type PolicyConditions,
  type PolicyRule,
} from "./policies.ts";

/** Reviewers who have no Slack user in the directory. */
export { listUnlinkedReviewers, type UnlinkedReviewer } from "./unlinked-reviewers.ts";

/** What a workspace is connected to. */
export {
  listLinearStates,
  listSubscriptions,
  putLinearState,
  putSubscription,
  removeSubscription,
  type LinearState,
  type Subscription,
} from "./connections.ts";

/** What happens because time passes: run them next to your own relay, or before the turns of one on demand. */
export {
  runTimers,
  startTimers,
  sweepBeforeTurns,
  timersTask,
  type Sweep,
  type SweepOptions,
  type TimerFailure,
  type TimerRunner,
  type Timers,
  type TimersOptions,
} from "./timers.ts";

/** The proof that nothing was lost or changed. */
export {
  listHeads,
  noCounts,
  verify,
  verifyHeads,
  type Counts,
  type Finding,
  type Head,
  type Phase,
  type VerifiedBatch,
  type VerifyOptions,
} from "./verify.ts";

export type { RefusalCode } from "../db/refusals.gen.ts";
/** The possible answers of every function here. */
export { toError, type Refused } from "../db/refusal.ts";
