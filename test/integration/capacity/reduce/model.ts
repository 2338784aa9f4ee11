/**
 * A second implementation of the workflow, in TypeScript and from the rules alone: the result of an action, given the directory and the
 * request. Tests compare the database with it; it shares nothing with the SQL.
 *
 * Owns: states, authorization, plans. Does not own: any connection.
 */
export const states = [
  "SUBMITTED",
  "UNDER_REVIEW",
  "CUSTOMER_CONFIRMATION_REQUIRED",
  "PROVISIONING",
  "COMPLETED",
  "REJECTED",
  "CANCELLED",
  "EXPIRED",
  "FAILED",
] as const;
export type State = (typeof states)[number];

export const eventTypes = [
  "REQUEST_SUBMITTED",
  "COMMERCIAL_APPROVED",
  "COMMERCIAL_REJECTED",
  "TECH_REVIEW_APPROVED",
  "TECH_REVIEW_REJECTED",
  "CUSTOMER_CONFIRMED",
  "CUSTOMER_DECLINED",
  "CUSTOMER_CONFIRMATION_TIMEOUT",
  "PROVISIONING_COMPLETE",
  "PROVISIONING_FAILED",
  "CANCEL_APPROVED",
] as const;
export type EventType = (typeof eventTypes)[number];

const terminal: ReadonlySet<State> = new Set(["COMPLETED", "REJECTED", "CANCELLED", "EXPIRED", "FAILED"]);

/** The specification's table, footnote included; undefined where there is no such step. */
export function nextState(
  state: State | null,
  event: EventType | null,
  commercialDone: boolean | null,
  technicalDone: boolean | null,
): State | undefined {
  if (state === null || event === null || terminal.has(state)) return undefined;
  if (event === "CANCEL_APPROVED") return "CANCELLED";
  const afterApproval = commercialDone === true && technicalDone === true;
  const table: Partial<Record<State, Partial<Record<EventType, State>>>> = {
    SUBMITTED: { REQUEST_SUBMITTED: "UNDER_REVIEW" },
    UNDER_REVIEW: {
      COMMERCIAL_APPROVED: afterApproval ? "CUSTOMER_CONFIRMATION_REQUIRED" : "UNDER_REVIEW",
      TECH_REVIEW_APPROVED: afterApproval ? "CUSTOMER_CONFIRMATION_REQUIRED" : "UNDER_REVIEW",
      COMMERCIAL_REJECTED: "REJECTED",
      TECH_REVIEW_REJECTED: "REJECTED",
    },
    CUSTOMER_CONFIRMATION_REQUIRED: {
      CUSTOMER_CONFIRMED: "PROVISIONING",
      CUSTOMER_DECLINED: "CANCELLED",
      CUSTOMER_CONFIRMATION_TIMEOUT: "EXPIRED",
    },
    PROVISIONING: { PROVISIONING_COMPLETE: "COMPLETED", PROVISIONING_FAILED: "FAILED" },
  };
  return table[state]?.[event];
}

export interface Member {
  readonly id: string;
  roles: readonly string[];
  active: boolean;
  groups: readonly string[];
  delegate?: string;
  away: boolean;
}

export type Directory = ReadonlyMap<string, Member>;

export type Authority = { readonly kind: "owner" } | { readonly kind: "role"; readonly role: string };

export interface Plan {
  readonly owner: string | null;
  readonly group: string | null;
  readonly authority: Authority;
  readonly autoCommercial: boolean;
  readonly autoTechnical: boolean;
}

/** One request as the model sees it. */
export interface ModelRequest {
  readonly id: string;
  readonly requester: string;
  readonly plan: Plan;
  state: State;
  version: number;
  /** Whether paying is the confirmation. */
  readonly priced: boolean;
  /** True once somebody moved the deadline into the past. */
  overdue: boolean;
  /** Decisions that count, by event. */
  decided: Map<EventType, string>;
  endorsers: Set<string>;
}

export interface Actor {
  readonly type: "user" | "system" | "cron" | "customer";
  readonly id: string;
}

const reviewerRoles = ["commercial", "vp", "admin"];
const has = (member: Member | undefined, roles: readonly string[]): boolean =>
  member?.roles.some((role) => roles.includes(role)) ?? false;

/** Whether a member is the commercial owner, or the delegate of one who is away. */
function standsForOwner(directory: Directory, request: ModelRequest, member: Member): boolean {
  const owner = directory.get(request.plan.owner ?? "");
  if (owner === undefined || !owner.active || !has(owner, reviewerRoles)) return false;
  if (owner.id === member.id) return true;
  return owner.away && owner.delegate === member.id && owner.id !== request.requester;
}

type Verdict =
  { readonly allowed: true; readonly counts: boolean } | { readonly allowed: false; readonly code: string };
const yes: Verdict = { allowed: true, counts: true };
const no: Verdict = { allowed: false, code: "not_allowed" };
const pays: Verdict = { allowed: false, code: "payment_due" };

export function authorize(directory: Directory, request: ModelRequest, actor: Actor, event: EventType): Verdict {
  const answer = event === "CUSTOMER_CONFIRMED" || event === "CUSTOMER_DECLINED";
  const waiting = request.state === "CUSTOMER_CONFIRMATION_REQUIRED";
  if (answer && waiting && request.overdue && actor.type !== "system")
    return { allowed: false, code: "deadline_passed" };
  switch (actor.type) {
    case "customer":
      if (event === "CUSTOMER_CONFIRMED" && request.priced) return pays;
      return answer ? yes : no;
    case "cron":
      return event === "CUSTOMER_CONFIRMATION_TIMEOUT" && (!waiting || request.overdue) ? yes : no;
    case "system":
      return systemMay(request.plan, event) ? yes : no;
    default:
      return memberMay(directory, request, directory.get(actor.id), event);
  }
}

function systemMay(plan: Plan, event: EventType): boolean {
  if (event === "COMMERCIAL_APPROVED") return plan.autoCommercial;
  if (event === "TECH_REVIEW_APPROVED") return plan.autoTechnical;
  return ["CUSTOMER_CONFIRMED", "PROVISIONING_COMPLETE", "PROVISIONING_FAILED"].includes(event);
}

function memberMay(directory: Directory, request: ModelRequest, member: Member | undefined, event: EventType): Verdict {
  if (member === undefined || !member.active) return no;
  const own = member.id === request.requester;
  switch (event) {
    case "REQUEST_SUBMITTED":
      return own ? yes : no;
    case "COMMERCIAL_APPROVED":
    case "COMMERCIAL_REJECTED": {
      if (own) return no;
      const { authority } = request.plan;
      if (authority.kind === "role" && member.roles.includes(authority.role)) return yes;
      if (!standsForOwner(directory, request, member)) return no;
      return { allowed: true, counts: authority.kind === "owner" || event === "COMMERCIAL_REJECTED" };
    }
    case "TECH_REVIEW_APPROVED":
    case "TECH_REVIEW_REJECTED":
      return !own && request.plan.group !== null && member.groups.includes(request.plan.group) ? yes : no;
    case "CUSTOMER_CONFIRMED":
    case "CUSTOMER_DECLINED":
      if (own || !standsForOwner(directory, request, member)) return no;
      return event === "CUSTOMER_CONFIRMED" && request.priced ? pays : yes;
    case "CANCEL_APPROVED":
      return own || member.roles.includes("admin") ? yes : no;
    case "PROVISIONING_COMPLETE":
    case "PROVISIONING_FAILED":
      return has(member, ["operator", "admin"]) ? yes : no;
    default:
      return no;
  }
}

export function mayRead(directory: Directory, request: ModelRequest, memberId: string): boolean {
  const member = directory.get(memberId);
  if (member === undefined || !member.active) return false;
  const { plan } = request;
  return (
    member.id === request.requester ||
    member.id === plan.owner ||
    has(member, ["admin", "auditor"]) ||
    (member.roles.includes("operator") && ["PROVISIONING", "COMPLETED", "FAILED"].includes(request.state)) ||
    (plan.authority.kind === "role" && member.roles.includes(plan.authority.role)) ||
    (plan.group !== null && member.groups.includes(plan.group)) ||
    standsForOwner(directory, request, member)
  );
}

export interface Terms {
  readonly requester: string;
  readonly owner: string | null;
  readonly group: string | null;
  readonly size: string;
  readonly region: string;
  readonly cost: number | null;
}

/** The rules of the model's world, as rows and as their meaning. */
export const policyRows = [
  { id: "big", kind: "escalation", step: "commercial", min_monthly_cost_usd: 10_000, approver_role: "vp" },
  { id: "small", kind: "auto_approval", step: "both", sizes: ["S"], max_monthly_cost_usd: 100 },
  { id: "carl", kind: "review_route", step: "commercial", sizes: ["64XL"], approver_id: "carl" },
  { id: "europe", kind: "review_route", step: "technical", regions: ["eu-west-1"], group_id: "infra-eu" },
] as const;
/** The price by size: of a month, for the four that a request asks for. Null: the euro has no rate. */
export const prices: ReadonlyMap<string, number | null> = new Map([
  ["16XL", 500],
  ["128XL", null],
]);
export const groups = ["infra", "infra-eu", "empty"] as const;

/** Where a rule names a reviewer, naming another is an attempt to bypass it. */
const contradicts = (named: string | null, ruled: string | null): boolean =>
  named !== null && ruled !== null && named !== ruled;

/** The plan for these terms, or the code with which they are refused. */
export function planFor(directory: Directory, terms: Terms): Plan | string {
  const active = [...directory.values()].filter((member) => member.active);
  const others = active.filter((member) => member.id !== terms.requester);
  // The price takes precedence over a typed estimate.
  const price = prices.get(terms.size);
  const cost = price === undefined ? terms.cost : price;
  const auto = terms.size === "S" && cost !== null && cost <= 100;
  const escalated = cost === null || cost >= 10_000;

  const ruledOwner = terms.size === "64XL" ? "carl" : null;
  if (contradicts(terms.owner, ruledOwner)) return "invalid_input";
  const owner = directory.get(ruledOwner ?? terms.owner ?? "");
  const chosen = ruledOwner === null && terms.owner !== null;
  if (chosen && (owner === undefined || !owner.active || !has(owner, reviewerRoles))) return "invalid_input";
  const owns = owner !== undefined && owner.active && has(owner, reviewerRoles) && owner.id !== terms.requester;
  const commercial = escalated ? others.some((member) => member.roles.includes("vp")) : owns;
  if (!auto && !commercial) return "nobody_can_approve";

  const known = (groups as readonly string[]).includes(terms.group ?? "");
  const ruledGroup = terms.region === "eu-west-1" ? "infra-eu" : null;
  if (contradicts(terms.group, ruledGroup) || (terms.group !== null && !known)) return "invalid_input";
  const group = ruledGroup ?? terms.group;
  const technical = group !== null && others.some((member) => member.groups.includes(group));
  if (!auto && !technical) return "nobody_can_approve";
  return {
    owner: owner?.id ?? null,
    group,
    authority: escalated ? { kind: "role", role: "vp" } : { kind: "owner" },
    autoCommercial: auto,
    autoTechnical: auto,
  };
}

/** The request right after its submission, with the automatic approvals of rules. */
export function submitted(id: string, terms: Terms, plan: Plan): ModelRequest {
  const request: ModelRequest = {
    id,
    requester: terms.requester,
    plan,
    priced: prices.has(terms.size),
    state: "UNDER_REVIEW",
    version: 1,
    overdue: false,
    decided: new Map([["REQUEST_SUBMITTED", terms.requester]]),
    endorsers: new Set(),
  };
  const rule: Actor = { type: "system", id: "policy:small" };
  if (plan.autoCommercial) act(new Map(), request, rule, "COMMERCIAL_APPROVED", null);
  if (plan.autoTechnical) act(new Map(), request, rule, "TECH_REVIEW_APPROVED", null);
  return request;
}

export type Outcome =
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "repeated"; readonly by: string }
  | { readonly kind: "done"; readonly state: State; readonly version: number };

/** The required result of an action. Changes the request when it succeeds. */
export function act(
  directory: Directory,
  request: ModelRequest,
  actor: Actor,
  event: EventType,
  expectedVersion: number | null,
): Outcome {
  const earlier = request.decided.get(event);
  if (earlier !== undefined) return { kind: "repeated", by: earlier };
  const verdict = authorize(directory, request, actor, event);
  if (!verdict.allowed) return { kind: "refused", code: verdict.code };
  if (!verdict.counts && request.endorsers.has(actor.id)) return { kind: "repeated", by: actor.id };
  if (expectedVersion !== null && expectedVersion !== request.version)
    return { kind: "refused", code: "stale_version" };
  const commercial = request.decided.has("COMMERCIAL_APPROVED") || (event === "COMMERCIAL_APPROVED" && verdict.counts);
  const technical = request.decided.has("TECH_REVIEW_APPROVED") || event === "TECH_REVIEW_APPROVED";
  const next = nextState(request.state, event, commercial, technical);
  if (next === undefined) return { kind: "refused", code: "invalid_transition" };
  if (verdict.counts) request.decided.set(event, actor.id);
  else request.endorsers.add(actor.id);
  request.state = next;
  request.version += 1;
  return { kind: "done", state: next, version: request.version };
}

/** A copy that can be acted on without touching the original. */
export function copyOf(request: ModelRequest): ModelRequest {
  return { ...request, decided: new Map(request.decided), endorsers: new Set(request.endorsers) };
}
