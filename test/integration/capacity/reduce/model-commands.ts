/**
 * What random people do in the model test, as commands of fast-check: each does the same to the model and to the database, and fails where
 * the two differ.
 *
 * Owns: how an action reaches the database (a member's token, a service, the reducer itself) and the comparison. Does not own:
 * the rules (model.ts), nor what is generated.
 */
import type { AsyncCommand } from "fast-check";
import { expect } from "vitest";
import { memberSession, overHttp, service } from "../gateway.ts";
import {
  act,
  authorize,
  copyOf,
  mayRead,
  planFor,
  submitted,
  eventTypes,
  type Actor,
  type EventType,
  type Member,
  type ModelRequest,
  type Outcome,
  type Terms,
} from "./model.ts";
import { oneOf, reasonFor, rowsOf, type RequestRow, type Workflow } from "../harness.ts";

export interface Model {
  readonly directory: Map<string, Member>;
  readonly requests: ModelRequest[];
}

/** How a caller comes in: with their own token, through a service, or pretending to be another. */
export type Entrance = "token" | "service" | "pretence";

export interface Action {
  readonly event: EventType;
  readonly actor: Actor;
  readonly entrance: Entrance;
  /** The version that the caller expects, as a difference from the real one; null: none. */
  readonly belief: number | null;
}

const describeAction = ({ event, actor, entrance, belief }: Action): string =>
  `${event} by ${actor.type}:${actor.id} (${entrance}${belief === null ? "" : `, version ${belief}`})`;

const refused = (code: string): Outcome => ({ kind: "refused", code });
const without = (list: readonly string[], item: string): string[] => list.filter((other) => other !== item);

/** The model's answer to an action, entrance included. */
function predict(model: Model, request: ModelRequest, action: Action, expected: number | null): Outcome {
  const { actor, event } = action;
  if (actor.type !== "user") return act(model.directory, request, actor, event, expected);
  const member = model.directory.get(actor.id);
  // A caller who may not read a request is told that it does not exist, whatever else they send.
  const knows = (id: string): boolean => mayRead(model.directory, request, id);
  if (action.entrance === "pretence") return refused(knows("ada") ? "not_allowed" : "not_found");
  if (member === undefined || !member.active)
    return refused(action.entrance === "token" ? "not_signed_in" : "not_allowed");
  if (action.entrance === "token" && !knows(actor.id)) return refused("not_found");
  const outcome = act(model.directory, request, actor, event, expected);
  return outcome.kind === "repeated" && !knows(actor.id) ? refused("not_allowed") : outcome;
}

const publicCall = `
select r.state, r.version from public.apply_capacity_event($1, $2, 'user', $3, $4, $5) r`;

/** Does it to the database, and returns the outcome in the model's terms. */
async function perform(workflow: Workflow, id: string, action: Action, expected: number | null): Promise<Outcome> {
  const { actor, event, entrance } = action;
  try {
    if (actor.type !== "user") {
      const answer = await workflow.apply(
        id,
        event,
        `${actor.type}:${actor.id}`,
        expected === null ? {} : { expectedVersion: expected },
      );
      return answer.repeated
        ? { kind: "repeated", by: answer.decided_by! }
        : { kind: "done", state: answer.state, version: answer.version };
    }
    // Ada is always active, so that a caller who pretends to be another is at least somebody.
    const session = entrance === "service" ? service : memberSession(entrance === "pretence" ? "ada" : actor.id);
    const claimed = entrance === "pretence" && actor.id === "ada" ? "rita" : actor.id;
    const values = [id, event, claimed, JSON.stringify(reasonFor(event)), expected];
    const answer = await overHttp(workflow.db, session, (client) =>
      oneOf<{ state: RequestRow["state"]; version: number }>(client, publicCall, values),
    );
    return { kind: "done", state: answer.state, version: answer.version };
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string };
    if (!/^PT4\d\d$/.test(code ?? "")) throw error;
    return { kind: "refused", code: /^[a-z_]+/.exec(detail ?? "")![0] };
  }
}

/** The public function does not say whether it was a repeat: then state and version are unchanged. */
function comparable(outcome: Outcome, request: ModelRequest): unknown {
  return outcome.kind === "repeated" ? { kind: "done", state: request.state, version: request.version } : outcome;
}

const verdicts = `
select x.type || ':' || x.id || ' ' || e.event as question,
       case when not a.allowed then a.code when a.counts then 'yes' else 'endorses' end as answer
  from capacity.requests r
 cross join unnest($2::text[], $3::text[]) x(type, id)
 cross join unnest($4::text[]) e(event)
 cross join lateral capacity.authorize(row(x.type, x.id, 'test')::capacity.actor, directory.standing_of(r.workspace_id, x.id), r,
                                       e.event::public.capacity_request_event_type, clock_timestamp()) a
 where r.id = $1`;

/** Every member is checked for every action: the database and the model must agree on each answer. */
async function expectSameVerdicts(workflow: Workflow, model: Model, request: ModelRequest): Promise<void> {
  const actors = everybody(model);
  const rows = await rowsOf<{ question: string; answer: string }>(workflow.superuser, verdicts, [
    request.id,
    actors.map((actor) => actor.type),
    actors.map((actor) => actor.id),
    eventTypes,
  ]);
  const predicted = actors.flatMap((actor) =>
    eventTypes.map((event) => {
      const verdict = authorize(model.directory, request, actor, event);
      const answer = verdict.allowed ? (verdict.counts ? "yes" : "endorses") : verdict.code;
      return [`${actor.type}:${actor.id} ${event}`, answer] as const;
    }),
  );
  expect(Object.fromEntries(rows.map((row) => [row.question, row.answer]))).toEqual(Object.fromEntries(predicted));
}

function everybody(model: Model): Actor[] {
  return [
    ...[...model.directory.keys(), "nobody"].map((id) => ({ type: "user", id }) as const),
    { type: "customer", id: "customer" },
    { type: "system", id: "job" },
    { type: "cron", id: "timer" },
  ];
}

async function expectSame(workflow: Workflow, model: Model, request: ModelRequest): Promise<void> {
  await expectSameVerdicts(workflow, model, request);
  const row = await workflow.row(request.id);
  expect({
    state: row.state,
    version: row.version,
    commercial: row.commercial_approved_by,
    technical: row.technical_approved_by,
    endorsed: row.commercial_endorsed_by !== null,
  }).toEqual({
    state: request.state,
    version: request.version,
    commercial: request.decided.get("COMMERCIAL_APPROVED") ?? null,
    technical: request.decided.get("TECH_REVIEW_APPROVED") ?? null,
    endorsed: request.endorsers.size > 0,
  });
  // A deadline that a test moved is the only thing that the log does not have.
  if (!(request.overdue && request.state === "CUSTOMER_CONFIRMATION_REQUIRED"))
    await workflow.expectWhole([request.id]);
}

export class Create implements AsyncCommand<Model, Workflow> {
  readonly terms: Terms;
  constructor(terms: Terms) {
    this.terms = terms;
  }
  check(): boolean {
    return true;
  }
  async run(model: Model, workflow: Workflow): Promise<void> {
    const active = model.directory.get(this.terms.requester)!.active;
    const plan = active ? planFor(model.directory, this.terms) : "not_allowed";
    const before = typeof plan === "string" ? await workflow.size() : undefined;
    const answer = await workflow.create(this.terms).catch((error: { detail?: string }) => error);
    if (typeof plan === "string") {
      expect("detail" in answer ? answer.detail?.split(":")[0] : answer).toBe(plan);
      expect(await workflow.size()).toEqual(before);
      return;
    }
    expect(answer).toMatchObject({ id: expect.any(String) });
    const request = submitted((answer as RequestRow).id, this.terms, plan);
    model.requests.push(request);
    await expectSame(workflow, model, request);
  }
  toString(): string {
    return `create ${JSON.stringify(this.terms)}`;
  }
}

export class Act implements AsyncCommand<Model, Workflow> {
  readonly which: number;
  readonly action: Action;
  constructor(which: number, action: Action) {
    this.which = which;
    this.action = action;
  }
  check(model: Readonly<Model>): boolean {
    return model.requests.length > 0;
  }
  async run(model: Model, workflow: Workflow): Promise<void> {
    const request = model.requests[this.which % model.requests.length]!;
    const expected = this.action.belief === null ? null : request.version + this.action.belief;
    const real = await perform(workflow, request.id, this.action, expected);
    const predicted = predict(model, request, this.action, expected);
    expect(comparable(real, request)).toEqual(comparable(predicted, request));
    if (real.kind === "repeated") expect(predicted).toEqual(real);
    await expectSame(workflow, model, request);
  }
  toString(): string {
    return `on ${this.which}: ${describeAction(this.action)}`;
  }
}

/** Takes one of the steps that are allowed now, so that stories continue and do not end in refusals alone. */
export class Advance implements AsyncCommand<Model, Workflow> {
  readonly which: number;
  readonly choice: number;
  constructor(which: number, choice: number) {
    this.which = which;
    this.choice = choice;
  }
  check(model: Readonly<Model>): boolean {
    return model.requests.length > 0;
  }
  async run(model: Model, workflow: Workflow): Promise<void> {
    const which = this.which % model.requests.length;
    const steps = lawfulSteps(model, model.requests[which]!);
    // Event first, then who: many may review and few may provision, and stories should reach every end.
    const events = [...new Set(steps.map((step) => step.event))];
    const event = events[this.choice % events.length];
    const able = steps.filter((step) => step.event === event);
    if (able.length > 0) await new Act(which, able[(this.choice >> 4) % able.length]!).run(model, workflow);
  }
  toString(): string {
    return `advance ${this.which} by its step ${this.choice}`;
  }
}

function lawfulSteps(model: Model, request: ModelRequest): Action[] {
  const actors = everybody(model);
  // What ends a story early is left to chance elsewhere.
  return eventTypes
    .filter((event) => !/CANCEL|REJECTED|DECLINED/.test(event))
    .flatMap((event) => actors.map((actor): Action => ({ event, actor, entrance: "token", belief: 0 })))
    .filter((action) => predict(model, copyOf(request), action, request.version).kind === "done");
}

/** Several at the same time, each on its own connection: some order of them must explain every answer. */
export class Race implements AsyncCommand<Model, Workflow> {
  readonly which: number;
  readonly actions: readonly Action[];
  constructor(which: number, actions: readonly Action[]) {
    this.which = which;
    this.actions = actions;
  }
  check(model: Readonly<Model>): boolean {
    return model.requests.length > 0;
  }
  async run(model: Model, workflow: Workflow): Promise<void> {
    const which = this.which % model.requests.length;
    const request = model.requests[which]!;
    const expected = (action: Action) => (action.belief === null ? null : request.version + action.belief);
    const versions = this.actions.map(expected);
    const real = await Promise.all(
      this.actions.map((action, index) => perform(workflow, request.id, action, versions[index]!)),
    );
    const explained = ordersOf(this.actions.length).map((order) => {
      const copy = copyOf(request);
      const matches = order.every((index) => {
        const action = this.actions[index]!;
        const predicted = comparable(predict(model, copy, action, versions[index]!), copy);
        return JSON.stringify(predicted) === JSON.stringify(comparable(real[index]!, copy));
      });
      return matches ? copy : undefined;
    });
    const after = explained.find((copy) => copy !== undefined);
    expect(after, `no order explains ${JSON.stringify(real)}`).toBeDefined();
    model.requests[which] = after!;
    await workflow.expectWhole(after!.overdue ? [] : [request.id]);
    expect(await workflow.row(request.id)).toMatchObject({ state: after!.state, version: after!.version });
    // Two orders may explain the answers and differ in who came first; the row says which it was.
    await settleWho(workflow, after!);
    await expectSame(workflow, model, after!);
  }
  toString(): string {
    return `at once on ${this.which}: ${this.actions.map(describeAction).join("; ")}`;
  }
}

async function settleWho(workflow: Workflow, request: ModelRequest): Promise<void> {
  const log = await workflow.events<{ event_type: EventType; actor_id: string; payload: { counts?: boolean } }>(
    request.id,
  );
  request.decided.clear();
  request.endorsers.clear();
  for (const event of log) {
    if (event.payload.counts === false) request.endorsers.add(event.actor_id);
    else request.decided.set(event.event_type, event.actor_id);
  }
}

function ordersOf(count: number): number[][] {
  if (count === 0) return [[]];
  return ordersOf(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, place) => [...order.slice(0, place), count - 1, ...order.slice(place)]),
  );
}

export type Change =
  | { readonly kind: "active"; readonly on: boolean }
  | { readonly kind: "away"; readonly on: boolean }
  | { readonly kind: "role"; readonly role: string; readonly on: boolean }
  | { readonly kind: "group"; readonly group: string; readonly on: boolean };

/** Somebody changes the directory. */
export class Rearrange implements AsyncCommand<Model, Workflow> {
  readonly id: string;
  readonly change: Change;
  constructor(id: string, change: Change) {
    this.id = id;
    this.change = change;
  }
  check(): boolean {
    // The one who pretends must stay active.
    return !(this.id === "ada" && this.change.kind === "active");
  }
  async run(model: Model, workflow: Workflow): Promise<void> {
    const member = model.directory.get(this.id)!;
    const { change } = this;
    if (change.kind === "active") member.active = change.on;
    else if (change.kind === "away") member.away = change.on;
    else if (change.kind === "role")
      member.roles = [...without(member.roles, change.role), ...(change.on ? [change.role] : [])];
    else member.groups = [...without(member.groups, change.group), ...(change.on ? [change.group] : [])];
    await writeMember(workflow, member);
    const [latest] = model.requests.slice(-1);
    if (latest !== undefined) await expectSame(workflow, model, latest);
  }
  toString(): string {
    return `${this.id}: ${JSON.stringify(this.change)}`;
  }
}

/** Makes the directory's row of a member match the model. */
export async function writeMember(workflow: Workflow, member: Member): Promise<void> {
  await workflow.setAway(member.id, member.away);
  await rowsOf(
    workflow.superuser,
    `with gone as (delete from directory.group_members where workspace_id = 'acme' and member_id = $1 and group_id <> all ($4)),
          came as (insert into directory.group_members select 'acme', g, $1 from unnest($4::text[]) g on conflict do nothing)
     update directory.members set active = $2, roles = $3, delegate_id = $5 where workspace_id = 'acme' and id = $1`,
    [member.id, member.active, member.roles, member.groups, member.delegate ?? null],
  );
}

/** Time passes: the customer has not answered. */
export class Elapse implements AsyncCommand<Model, Workflow> {
  readonly which: number;
  constructor(which: number) {
    this.which = which;
  }
  check(model: Readonly<Model>): boolean {
    return model.requests.length > 0;
  }
  async run(model: Model, workflow: Workflow): Promise<void> {
    const waiting = model.requests.filter((request) => request.state === "CUSTOMER_CONFIRMATION_REQUIRED");
    const request = waiting[this.which % waiting.length];
    if (request === undefined) return;
    request.overdue = true;
    await workflow.passDeadline(request.id);
    await expectSame(workflow, model, request);
  }
  toString(): string {
    return `the deadline of ${this.which} passes`;
  }
}
