/**
 * Finds a team's workflow state of a kind: teams name their states as they like, and Linear sorts them into kinds.
 *
 * Owns: the choice, and a cache of it. Does not own: a state that a workspace names itself; then the row has it.
 */
import { z } from "zod";
import type { LinearFailure, LinearQuery } from "./graphql.ts";

/** Workflows change about once a year; a stale state is noticed and read again. */
const rememberedMs = 5 * 60_000;
const maxTeams = 500;

const statesSchema = z.object({
  team: z.object({
    states: z.object({ nodes: z.array(z.object({ id: z.string(), type: z.string(), position: z.number() })) }),
  }),
});

export type State =
  /** Null: the team has no state of this kind. */
  { readonly kind: "state"; readonly id: string | null; readonly remembered: boolean } | LinearFailure;

export interface WorkflowStates {
  /** The team's first state of the kind. */
  find(teamId: string, stateKind: string, signal: AbortSignal): Promise<State>;
  forget(teamId: string): void;
}

interface Remembered {
  readonly byKind: ReadonlyMap<string, string>;
  readonly until: number;
}

export function createWorkflowStates(query: LinearQuery, now: () => number = Date.now): WorkflowStates {
  const teams = new Map<string, Remembered>();
  return {
    async find(teamId, stateKind, signal) {
      const known = teams.get(teamId);
      if (known !== undefined && known.until > now()) {
        return { kind: "state", id: known.byKind.get(stateKind) ?? null, remembered: true };
      }
      const answer = await query("states", { teamId }, signal);
      if (answer.kind === "failure") return answer;
      const read = statesSchema.safeParse(answer.data);
      if (!read.success) return { kind: "failure", code: "bad_answer" };
      const byKind = firstOfEachKind(read.data.team.states.nodes);
      const oldest = teams.keys().next().value;
      if (oldest !== undefined && teams.size >= maxTeams) teams.delete(oldest);
      teams.set(teamId, { byKind, until: now() + rememberedMs });
      return { kind: "state", id: byKind.get(stateKind) ?? null, remembered: false };
    },
    forget: (teamId) => void teams.delete(teamId),
  };
}

function firstOfEachKind(
  states: readonly { readonly id: string; readonly type: string; readonly position: number }[],
): Map<string, string> {
  const first = new Map<string, string>();
  for (const { id, type } of states.toSorted((left, right) => left.position - right.position)) {
    if (!first.has(type)) first.set(type, id);
  }
  return first;
}
