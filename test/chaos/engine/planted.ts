/**
 * Plausible bugs, each as the smallest change to the real code that causes it. If the engine has two
 * lines of defence (a lease and a unique line number, for example), both are removed: otherwise the second one refuses.
 */
import type { Settings } from "./settings.ts";
import { plantedInCode, type CodeBug } from "../kit/planted.ts";
import { runEngine } from "./run.ts";
import { scenarioSettings, type ScenarioName } from "./scenarios.ts";

interface EngineBug extends CodeBug<ScenarioName> {
  /** Settings with which a relay starts only if it has the bug. */
  readonly settings?: (settings: Settings) => Settings;
}

const sql = (path: string): string => `sql/functions/outbox/${path}.sql`;

export const plantedBugs: readonly EngineBug[] = [
  {
    name: "a settle accepts late results",
    scene: "stopped",
    patches: [
      {
        file: sql("settle/settle"),
        find: "select l.late, l.busy into v_late, v_busy from outbox.late_in_lanes(v_live, p_outcomes) l;",
        replace: "v_late := null;",
      },
      {
        file: sql("settle/fence_lanes"),
        find: "join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id\n           where g.claim_id = any (p_live)",
        replace: "join outbox.heads h on h.lane_id = g.lane_id",
      },
      {
        file: sql("settle/fence_lanes"),
        find: "case when v_rows = cardinality(p_outcomes) and not v_repeated then v_lanes end",
        replace: "v_lanes",
      },
      { file: sql("settle/settle_lanes"), find: "if v_delivered <> v_gone then", replace: "if v_delivered < 0 then" },
      {
        file: sql("settle/settle_lanes"),
        find: "select o.outbox_id, o.attempt_no + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHED'",
        replace:
          "select o.outbox_id, (select max(a.attempt_no) + 1 from outbox.attempts a where a.outbox_id = o.outbox_id), p_stream.class_id, p_stream.stream_id, 'DISPATCHED'",
      },
    ],
  },
  {
    name: "a lease is shorter than the time-out",
    scene: "slow answers",
    settings: (settings) => ({ ...settings, leaseSeconds: 1 }),
    patches: [
      {
        file: "src/outbox/relay/start-checks.ts",
        find: "if (stream.leaseMs > longestSendMs(rail) + marginMs) continue;",
        replace: "continue;",
      },
      {
        file: "src/outbox/dispatch/dispatcher.ts",
        find: "if (claim.stream.leaseMs - sinceClaimMs <= longestSendMs(rail) + leaseMarginMs) {",
        replace: "if (sinceClaimMs < 0) {",
      },
    ],
  },
  {
    name: "a claim takes a second run of a key in flight",
    scene: "weather",
    patches: [
      {
        file: sql("claim/claim"),
        find: "h.priority = turn.priority and h.claim_id is null and not h.blocked",
        replace: "h.priority = turn.priority and not h.blocked",
      },
      {
        file: sql("claim/claim"),
        find: "select h.lane_id, h.ctid as place, h.head_seq, h.run_limit from outbox.heads h",
        replace:
          "select h.lane_id, h.ctid as place, coalesce(h.claimed_to + 1, h.head_seq) as head_seq, h.run_limit from outbox.heads h",
      },
    ],
  },
  {
    name: "rows of one key are sent side by side",
    scene: "weather",
    patches: [
      {
        file: "src/outbox/dispatch/dispatcher.ts",
        find: "if (laneId !== null) while (end < rows.length && rows[end]?.lane_id === laneId) end += 1;",
        replace: "if (laneId === -1) end += 1;",
      },
    ],
  },
  {
    name: "an enqueue forgets the dedupe",
    scene: "producers",
    patches: [
      {
        file: sql("enqueue/add_row"),
        find: "on conflict do nothing;\n    if found then",
        replace: "on conflict do nothing;\n    if true then",
      },
    ],
  },
  {
    name: "a reap leaves no uncertain mark",
    scene: "killed",
    caughtAs: "I7",
    patches: [
      {
        file: sql("upkeep/reap_lanes"),
        find: "'ZOMBIE_REQUEUE', p_claim.relay_id, p_claim.claim_id, true,",
        replace: "'ZOMBIE_REQUEUE', p_claim.relay_id, p_claim.claim_id, false,",
      },
      {
        file: sql("upkeep/reap_lanes"),
        find: "tries = p.tries + 1, uncertain = true,",
        replace: "tries = p.tries + 1, uncertain = p.uncertain,",
      },
    ],
  },
  {
    name: "a reap takes back what is settled",
    scene: "killed",
    patches: [
      {
        file: sql("upkeep/reap_rows"),
        find: "where p_claim.open = cardinality(p_claim.outbox_ids)",
        replace: "where true",
      },
      {
        file: sql("upkeep/reap_rows"),
        find: "select c.outbox_id, c.line as lines,",
        replace:
          "select c.outbox_id, (select max(a.attempt_no) from outbox.attempts a where a.outbox_id = c.outbox_id) as lines,",
      },
    ],
  },
  {
    name: "a retry forgets that the outcome was unknown",
    scene: "weather",
    patches: [
      {
        file: sql("settle/settle_lane_exceptions"),
        find: "g.kind = 'unknown' or (p.uncertain and not g.absent) as uncertain_now",
        replace: "p.uncertain and not g.absent as uncertain_now",
      },
    ],
  },
  {
    name: "a run goes on past an undelivered row",
    scene: "weather",
    patches: [
      {
        file: "src/outbox/dispatch/dispatcher.ts",
        find: 'if (outcome.kind === "delivered") return true;',
        replace: "if (index >= 0) return true;",
      },
    ],
  },
  {
    name: "a lane goes idle without its allocator's lock",
    scene: "producers",
    patches: [{ file: sql("settle/advance_lanes"), find: " for update skip locked", replace: "" }],
  },
  {
    name: "claims never look behind the recent end",
    scene: "producers",
    patches: [
      {
        file: "src/outbox/claim/claimer.ts",
        find: "const due = startedAtMs - this.#lookedEverywhereAtMs >= this.#everywhereEveryMs;",
        replace: "const due = false;",
      },
      {
        file: "src/outbox/claim/claimer.ts",
        find: "if (rows.length === 0 && recent !== null) rows = await this.#read(connection, relayId, prepare, inFlight, null);",
        replace: "",
      },
    ],
  },
  {
    name: "a settle ignores the rewind mark",
    scene: "redrive",
    patches: [
      {
        file: sql("settle/settle_lanes"),
        find: "if v_rewound then",
        replace: "if false then",
      },
      {
        file: sql("settle/settle_lanes"),
        find: "if v_delivered <> v_gone then",
        replace: "if v_delivered > v_gone then",
      },
    ],
  },
  {
    name: "line numbers are used twice",
    scene: "weather",
    patches: [
      {
        file: sql("settle/settle_lane_exceptions"),
        find: "set lines = p.lines + 2, tries = j.tries_now",
        replace: "set lines = p.lines, tries = j.tries_now",
      },
      {
        file: sql("claim/claim"),
        find: "        from unnest(v_rows) r;\n      return query",
        replace: "        from unnest(v_rows) r on conflict do nothing;\n      return query",
      },
    ],
  },
];

/** A short run with little more than the faults of the scenario. */
export const planted = plantedInCode(plantedBugs, async ({ codeDir, postgres }, scenario, bug, { seed, signal }) => {
  const settings = scenarioSettings(scenario, seed, codeDir);
  const { findings } = await runEngine(bug?.settings?.(settings) ?? settings, { signal }, postgres);
  return findings;
});
