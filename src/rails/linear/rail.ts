/**
 * The rail `linear`: creates a request's issue, comments on it and keeps it current.
 *
 * Issues and comments are created under ids that were made when their rows were enqueued. So Linear itself prevents a
 * second one, and the rail can look one up by its id.
 *
 * Owns: turning a row into a mutation and an answer into an outcome. Does not own: texts (rendered in SQL) and order.
 */
import { z } from "zod";
import { outcomeOfCode } from "../exchange-codes.ts";
import { openConnections } from "../exchange.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import type { Json, LookupOutcome, Rail, RailContext, RailOutcome, Validation } from "../../contract/rail.ts";
import { reasonOf } from "../reason.ts";
import { linearCodes } from "./codes.ts";
import { linearSettingsSchema } from "./config.ts";
import type { LinearSettings } from "./config.ts";
import { createLinearQuery } from "./graphql.ts";
import type { LinearFailure, LinearQuery } from "./graphql.ts";
import { linearMessageSchema } from "./message.ts";
import type { IssueMessage, LinearMessage } from "./message.ts";
import { createWorkflowStates } from "./states.ts";
import type { WorkflowStates } from "./states.ts";

export interface LinearRailOptions extends LinearSettings {
  /** Hard limit of one call, including reading states. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Calls under way at once. Default: the relay's own limit. */
  readonly concurrency?: number;
}

export interface LinearRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = { timeoutMs: 15_000 } satisfies Partial<LinearRailOptions>;

interface Linear {
  readonly query: LinearQuery;
  readonly states: WorkflowStates;
}

export function createLinearRail(options: LinearRailOptions): LinearRail {
  const { timeoutMs, concurrency } = { ...defaults, ...options };
  const connections = openConnections();
  const query = createLinearQuery(requireSettings("linear", linearSettingsSchema, options), connections);
  const linear = { query, states: createWorkflowStates(query) };
  return {
    name: "linear",
    capability: "lookup",
    timeoutMs,
    ...(concurrency === undefined ? {} : { concurrency }),
    codes: Object.keys(linearCodes),
    validate: ({ payload }) => validate(payload),
    send: ({ payload }, context) => send(linear, linearMessageSchema.parse(payload), context),
    lookup: ({ payload }, context) => lookUp(linear, linearMessageSchema.parse(payload), context),
    close: () => connections.close(),
  };
}

function validate(payload: Json): Validation {
  const parsed = linearMessageSchema.safeParse(payload);
  return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
}

async function send(linear: Linear, message: LinearMessage, { signal }: RailContext): Promise<RailOutcome> {
  if (message.operation === "commentCreate") return await mutate(linear, message, message.input, signal);
  const state = await stateOf(linear, message, signal);
  if ("kind" in state) return state;
  const { stateId, remembered } = state;
  const outcome = await mutate(linear, message, { ...message.input, ...stateId }, signal);
  if (!remembered || outcome.kind !== "rejected" || outcome.code !== "invalid_input") return outcome;
  // The state may have been refused. It is read again for the next try; if that is refused too, it was not the state.
  linear.states.forget(message.team_id ?? "");
  return outcomeOf({ kind: "failure", code: "state_changed" });
}

/** The state to set: the row's own, else the team's first of the kind, else none. */
async function stateOf(
  { states }: Linear,
  message: IssueMessage,
  signal: AbortSignal,
): Promise<{ readonly stateId: { stateId?: string }; readonly remembered: boolean } | RailOutcome> {
  const { team_id: teamId, state_kind: stateKind, input } = message;
  if (input.stateId !== undefined || teamId === undefined || stateKind === undefined) {
    return { stateId: {}, remembered: false };
  }
  const state = await states.find(teamId, stateKind, signal);
  if (state.kind === "state") {
    return { stateId: state.id === null ? {} : { stateId: state.id }, remembered: state.remembered };
  }
  // Nothing has been changed yet, so a failed read leaves no uncertainty.
  if (linearCodes[state.code].outcome !== "unknown") return outcomeOf(state);
  return outcomeOf({ ...state, code: "states_unavailable" });
}

const doneSchema = z.record(z.string(), z.looseObject({ success: z.boolean() }));
const entitySchema = z.looseObject({ id: z.string() });

async function mutate(
  linear: Linear,
  message: LinearMessage,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const { operation } = message;
  const variables = operation === "issueUpdate" ? { id: message.id, input } : { input };
  const answer = await linear.query(operation, variables, signal);
  if (answer.kind === "data") {
    const done = doneSchema.safeParse(answer.data).data?.[operation];
    if (done === undefined) return outcomeOf({ kind: "failure", code: "bad_answer" });
    if (done.success) return delivered(message, done);
    return await unlessThere(linear, message, { kind: "failure", code: "not_done" }, signal);
  }
  return await unlessThere(linear, message, answer, signal);
}

/** A refusal because the id already exists is a success: an earlier try of this row made it. */
async function unlessThere(
  linear: Linear,
  message: LinearMessage,
  failure: LinearFailure,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const refusal = outcomeOf(failure);
  if (refusal.kind !== "rejected" || message.operation === "issueUpdate") return refusal;
  const found = await lookUp(linear, message, { signal });
  if (found.kind === "absent") return refusal;
  if (found.kind === "found") return { ...found, kind: "delivered", code: "duplicate" };
  // The answer depends on whether it exists, which could not be asked.
  return outcomeOf({ ...failure, code: "bad_answer" });
}

function delivered(message: LinearMessage, done: Readonly<Record<string, unknown>>): RailOutcome {
  const name = message.operation === "commentCreate" ? "comment" : "issue";
  const entity = entitySchema.safeParse(done[name]).data;
  // The mutation was done; an entity that is missing in the answer can be named by the id that we gave it.
  const id = entity?.id ?? (message.operation === "issueUpdate" ? message.id : message.input.id);
  return {
    kind: "delivered",
    code: "success",
    ...referenceOf(id, entity),
    response: { [name]: responseOf(id, entity) },
  };
}

function referenceOf(id: string, entity: Readonly<Record<string, unknown>> | undefined): { reference: string } {
  const identifier = entity?.["identifier"];
  return { reference: typeof identifier === "string" ? identifier : id };
}

function responseOf(id: string, entity: Readonly<Record<string, unknown>> | undefined): Json {
  const texts = ["identifier", "url"].flatMap((name) => {
    const value = entity?.[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return { id, ...Object.fromEntries(texts) };
}

/**
 * An update needs no search: sending it again leads to the same issue, and nothing can have come in between, as later rows
 * of the lane wait. So it is reported absent, and the engine sends it again.
 */
async function lookUp(linear: Linear, message: LinearMessage, { signal }: RailContext): Promise<LookupOutcome> {
  if (message.operation === "issueUpdate") return { kind: "absent" };
  const name = message.operation === "issueCreate" ? "issue" : "comment";
  const { id } = message.input;
  const answer = await linear.query(name, { id }, signal);
  if (answer.kind === "data") {
    const entity = z.record(z.string(), entitySchema.nullable()).safeParse(answer.data).data?.[name];
    if (entity === null) return { kind: "absent" };
    if (entity?.id !== id) return unavailable({ kind: "failure", code: "bad_answer" });
    return { kind: "found", ...referenceOf(id, entity), response: { [name]: responseOf(id, entity) } };
  }
  // The id is well formed, so a refused input means that there is no such entity.
  return answer.code === "invalid_input" ? { kind: "absent" } : unavailable(answer);
}

function unavailable(failure: LinearFailure): LookupOutcome {
  const { code, afterMs } = failure;
  return { kind: "unavailable", code, reason: wording(failure), ...(afterMs === undefined ? {} : { afterMs }) };
}

function outcomeOf(failure: LinearFailure): Exclude<RailOutcome, { kind: "delivered" }> {
  return outcomeOfCode(linearCodes[failure.code].outcome, failure.code, wording(failure), failure);
}

function wording({ code, detail }: LinearFailure): string {
  const { meaning } = linearCodes[code];
  return reasonOf(detail === undefined || detail === "" ? meaning : `${meaning} (${detail})`);
}
