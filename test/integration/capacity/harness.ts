/**
 * Drives the workflow in tests: a directory of people, requests, and events by any actor. Events go straight to the reducer, with an actor
 * that an entrance would have established; entrances are tested elsewhere.
 *
 * Does not own: what is asserted.
 */
import { beforeAll, expect } from "vitest";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import type { ClusterInfo } from "../../helpers/clusters.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf, type Queryable } from "../outbox/queries.ts";
import type { EventType, State } from "./reduce/model.ts";

export { oneOf, refusalOf, refusedAs, rowsOf } from "../outbox/queries.ts";

export interface RequestInput {
  readonly requester?: string;
  readonly owner?: string | null;
  readonly group?: string | null;
  readonly customer?: unknown;
  readonly size?: string;
  readonly quantity?: number;
  readonly region?: string;
  readonly neededBy?: string | null;
  readonly durationDays?: number | null;
  readonly cost?: number | string | null;
  readonly ttlDays?: number | null;
  readonly workspace?: string | null;
  readonly channel?: string | null;
  readonly key?: string | null;
  readonly replaces?: string | null;
  readonly customerId?: string | null;
  readonly justification?: string | null;
}

export interface Policy {
  readonly id: string;
  readonly kind: "escalation" | "auto_approval" | "review_route";
  readonly step?: "commercial" | "technical" | "both";
  readonly rank?: number;
  readonly enabled?: boolean;
  readonly sizes?: readonly string[];
  readonly regions?: readonly string[];
  readonly min_monthly_cost_usd?: number;
  readonly max_monthly_cost_usd?: number;
  readonly max_quantity?: number;
  readonly approver_role?: string;
  readonly approver_id?: string;
  readonly group_id?: string;
}

export interface RequestRow {
  readonly id: string;
  readonly version: number;
  readonly state: State;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly commercial_owner_user_id: string | null;
  readonly infra_owner_group: string | null;
  readonly customer_ref: unknown;
  readonly commercial_approved_at: Date | null;
  readonly technical_approved_at: Date | null;
  readonly commercial_approved_by: string | null;
  readonly technical_approved_by: string | null;
  readonly commercial_endorsed_by: string | null;
  readonly next_deadline_at: Date | null;
  readonly cancellation_reason: string | null;
  readonly cancellation_authorizer_user_id: string | null;
  readonly rejection_reason: string | null;
  readonly review_plan: ReviewPlan;
  readonly workspace_id: string;
  readonly customer_id: string | null;
  readonly justification: string | null;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface ReviewPlan {
  readonly commercial: {
    readonly owner: string | null;
    readonly authority: { readonly kind: string; readonly role?: string; readonly member?: string };
    readonly auto: boolean;
    readonly rule: string | null;
    readonly why: string;
    readonly reviewers: readonly Named[];
  };
  readonly technical: {
    readonly group: string | null;
    readonly auto: boolean;
    readonly rule: string | null;
    readonly why: string;
    readonly reviewers: readonly Named[];
  };
}

export interface Preview extends ReviewPlan {
  readonly state: State;
  readonly slack_channel_id: string | null;
}

export interface Answer {
  readonly state: State;
  readonly version: number;
  readonly repeated: boolean;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
}

/**
 * The people of every test. Rita and Rob are requesters; Cora and Carl are commercial owners, with Dora as Cora's delegate; Vera is the VP;
 * Tess and Tim are the infra group, with Rob; Otto operates, Ada administers, Gus has left.
 */
const directory = `
insert into directory.workspaces (id, name) values ('acme', 'Acme'), ('globex', 'Globex');
insert into directory.members (workspace_id, id, display_name, slack_user_id, roles, active) values
  ('acme', 'rita', 'Rita', 'U0RITA', '{requester}', true),
  ('acme', 'rob', 'Rob', 'U0ROB', '{requester}', true),
  ('acme', 'dora', 'Dora', 'U0DORA', '{requester}', true),
  ('acme', 'cora', 'Cora', 'U0CORA', '{commercial}', true),
  ('acme', 'carl', 'Carl', 'U0CARL', '{commercial,requester}', true),
  ('acme', 'vera', 'Vera', 'U0VERA', '{vp}', true),
  ('acme', 'tess', 'Tess', 'U0TESS', '{requester}', true),
  ('acme', 'tim', 'Tim', 'U0TIM', '{requester}', true),
  ('acme', 'otto', 'Otto', 'U0OTTO', '{operator}', true),
  ('acme', 'ada', 'Ada', 'U0ADA', '{admin}', true),
  ('acme', 'gus', 'Gus', 'U0GUS', '{commercial}', false),
  ('globex', 'rita', 'Another Rita', null, '{admin}', true),
  ('globex', 'glen', 'Glen', null, '{commercial,vp,operator,admin}', true);
update directory.members set delegate_id = 'dora' where workspace_id = 'acme' and id = 'cora';
insert into directory.groups (workspace_id, id, name) values
  ('acme', 'infra', 'Infra'), ('acme', 'infra-eu', 'Infra Europe'), ('acme', 'empty', 'Nobody'), ('globex', 'infra', 'Infra');
insert into directory.group_members (workspace_id, group_id, member_id) values
  ('acme', 'infra', 'tess'), ('acme', 'infra', 'tim'), ('acme', 'infra', 'rob'), ('acme', 'infra', 'gus'),
  ('acme', 'infra-eu', 'tim'), ('acme', 'infra-eu', 'gus'), ('globex', 'infra', 'glen');
`;

export class Workflow {
  readonly db: TestDatabase;

  constructor(db: TestDatabase) {
    this.db = db;
  }

  get superuser(): Queryable {
    return this.db.superuser.pool;
  }

  async create(input: RequestInput = {}, client: Queryable = this.superuser): Promise<RequestRow> {
    return oneOf<RequestRow>(client, createCall, createValues(input));
  }

  /** The plan that a request with these terms would get. */
  async preview(input: RequestInput = {}): Promise<Preview> {
    const [requester, owner, group, , size, quantity, region, , duration, cost, , workspace] = createValues(input);
    const { plan } = await oneOf<{ plan: Preview }>(
      this.superuser,
      "select public.preview_capacity_request($1, $2, $3, $4, $5, $6, $7, $8, p_expected_duration_days => $9) as plan",
      [requester, owner, group, size, quantity, region, cost, workspace, duration],
    );
    return plan;
  }

  /** Gives the reducer an event, as an entrance does once it knows the actor. */
  async apply(
    id: string,
    event: EventType,
    actor: string,
    options: { payload?: unknown; expectedVersion?: number; client?: Queryable } = {},
  ): Promise<Answer> {
    const [type, name] = actor.includes(":") ? (actor.split(":") as [string, string]) : ["user", actor];
    return oneOf<Answer>(
      options.client ?? this.superuser,
      `select (a.request).state, (a.request).version, a.repeated, a.decided_by, a.decided_at
         from capacity.decide($1, $2, row($3, $4, 'test')::capacity.actor, $5, $6) a`,
      [id, event, type, name, JSON.stringify(options.payload ?? reasonFor(event)), options.expectedVersion ?? null],
    );
  }

  /** A request brought to the given state, with nothing in the way. */
  async createIn(state: "UNDER_REVIEW" | "CUSTOMER_CONFIRMATION_REQUIRED" | "PROVISIONING", input: RequestInput = {}) {
    const { id } = await this.create(input);
    if (state === "UNDER_REVIEW") return id;
    await this.apply(id, "COMMERCIAL_APPROVED", "cora");
    await this.apply(id, "TECH_REVIEW_APPROVED", "tess");
    if (state === "PROVISIONING") await this.apply(id, "CUSTOMER_CONFIRMED", "customer:customer");
    return id;
  }

  row(id: string): Promise<RequestRow> {
    return oneOf<RequestRow>(this.superuser, "select * from public.capacity_requests where id = $1", [id]);
  }

  events<T = { seq: number; event_type: EventType; actor_id: string; actor_type: string; payload: unknown }>(
    id: string,
  ): Promise<T[]> {
    return rowsOf<T>(this.superuser, "select * from capacity.events where request_id = $1 order by seq", [id]);
  }

  /** The last event as the API shows it: with people's words, of which the log has only the hash. */
  async lastShown(id: string): Promise<{ payload: unknown }> {
    const last =
      "select * from public.capacity_request_events where capacity_request_id = $1 order by seq desc limit 1";
    return oneOf(this.superuser, last, [id]);
  }

  /** Ends the time for the customer's answer, in the projection only: the fold does not change. */
  async passDeadline(id: string): Promise<void> {
    await rowsOf(
      this.superuser,
      "update capacity.requests set next_deadline_at = clock_timestamp() - interval '1 second' where id = $1",
      [id],
    );
  }

  /** Adds a rule to Acme. */
  async addPolicy(policy: Policy): Promise<void> {
    await rowsOf(
      this.superuser,
      `insert into capacity.policies (workspace_id, id, kind, step, rank, enabled, sizes, regions, min_monthly_cost_usd,
                                      max_monthly_cost_usd, max_quantity, approver_role, approver_id, group_id)
       select 'acme', id, kind, coalesce(step, 'commercial'), coalesce(rank, 100), coalesce(enabled, true), sizes, regions, min_monthly_cost_usd,
              max_monthly_cost_usd, max_quantity, approver_role, approver_id, group_id
         from jsonb_populate_record(null::capacity.policies, $1)`,
      [JSON.stringify(policy)],
    );
  }

  /** Puts a member on leave, or brings them back. */
  async setAway(id: string, away: boolean): Promise<void> {
    await rowsOf(
      this.superuser,
      `update directory.members set away_from = case when $2 then now() - interval '1 hour' end,
              away_until = case when $2 then now() + interval '1 day' end where workspace_id = 'acme' and id = $1`,
      [id, away],
    );
  }

  /** Row counts of everything that the workflow writes, which a refusal must leave unchanged. */
  async size(): Promise<Record<string, number>> {
    return oneOf(
      this.superuser,
      `select (select count(*) from capacity.requests) as requests, (select count(*) from capacity.events) as events,
              (select coalesce(sum(version), 0) from capacity.requests) as versions,
              (select count(*) from capacity.personal_data) as personal, (select count(*) from capacity.submissions) as submissions,
              (select count(*) from capacity.confirmation_tokens) as tokens, (select count(*) from capacity.notices) as notices,
              (select count(*) from capacity.personal_data d where d.erased_at is not null) as erased,
              (select count(*) from capacity.erasures) as erasures, (select count(*) from capacity.free_texts) as texts,
              (select count(*) from capacity.free_texts t where t.content is null) as erased_texts,
              (select count(*) from capacity.confirmation_tokens t where t.used_at is not null) as used,
              (select count(*) from capacity.customer_marks) as marks, (select count(*) from capacity.request_customers) as customers,
              (select count(*) from outbox.payloads) as messages`,
    );
  }

  /** Every projection is the fold of its events, numbers have no gap, and the chain is whole. */
  async expectWhole(ids: readonly string[] | null = null): Promise<void> {
    expect(await rowsOf(this.superuser, brokenRequests, [ids])).toEqual([]);
  }
}

const brokenRequests = `
select r.id, r.version, f.count, f.folded = r as folds, f.chained
  from capacity.requests r
  left join lateral (
    select count(*)::integer, capacity.fold(array_agg(e.event order by e.seq)) as folded,
           bool_and(e.hash = capacity.event_hash(e.before, e.event) and e.seq = e.nth and e.created_at >= coalesce(e.earlier, e.created_at)) as chained
      from (select x as event, x.seq, x.hash, x.created_at, lag(x.hash) over w as before, lag(x.created_at) over w as earlier,
                   row_number() over w as nth
              from capacity.events x where x.request_id = r.id window w as (order by x.seq)) e) f on true
 where ($1::text[] is null or r.id = any ($1)) and not coalesce(f.folded = r and f.count = r.version and f.chained, false)`;

/** A call of create_capacity_request with all of its arguments. */
export const createCall = `
select * from public.create_capacity_request(
  p_requester_user_id => $1, p_commercial_owner_user_id => $2, p_infra_owner_group => $3, p_customer_ref => $4, p_requested_size => $5,
  p_quantity => $6, p_region => $7, p_needed_by_date => $8, p_expected_duration_days => $9, p_estimated_monthly_cost_usd => $10,
  p_confirmation_ttl_days => $11, p_workspace_id => $12, p_slack_channel_id => $13, p_idempotency_key => $14, p_replaces_request_id => $15,
  p_customer_id => $16, p_justification => $17)`;

const or = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value);

/** The arguments of create_capacity_request in order. Omitted ones get a valid value. */
export function createValues(input: RequestInput): unknown[] {
  return [
    or(input.requester, "rita"),
    or(input.owner, "cora"),
    or(input.group, "infra"),
    input.customer === null ? null : JSON.stringify(input.customer ?? { org: "org_1", name: "Initech" }),
    or(input.size, "32XL"),
    or(input.quantity, 4),
    or(input.region, "us-east-1"),
    or(input.neededBy, null),
    or(input.durationDays, 30),
    or(input.cost, 500),
    or(input.ttlDays, 7),
    or(input.workspace, "acme"),
    or(input.channel, null),
    or(input.key, null),
    or(input.replaces, null),
    or(input.customerId, null),
    or(input.justification, null),
  ];
}

/** Rejections and cancellations need a reason. */
export function reasonFor(event: EventType): object {
  return /REJECTED|CANCEL|DECLINED/.test(event) ? { reason: "because" } : {};
}

/** The code with which the workflow refused; fails when it did not refuse, or another error was raised. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  const refusal = await refusalOf(work);
  expect(refusal.code).toMatch(/^PT4\d\d$|^PT503$/);
  return /^[a-z_]+/.exec(refusal.detail ?? "")?.[0] ?? "";
}

/** A database with the directory in it. Call it while tests are collected. */
export async function startWorkflow(version: EmbeddedVersion, cluster?: ClusterInfo): Promise<Workflow> {
  const workflow = new Workflow(await createTestDatabase({ version, cluster }));
  beforeAll(async () => {
    await workflow.db.superuser.pool.query(directory);
  });
  return workflow;
}
