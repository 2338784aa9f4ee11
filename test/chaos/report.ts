/**
 * A run's result for people: what was done, what came of it, and what was found wrong.
 */
import { relaySteps } from "../../src/outbox/observe/steps.ts";
import type { Finding } from "./findings.ts";
import type { RunResult } from "./run-once.ts";

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export function renderRun(result: RunResult): string {
  const { rows, requests, relayCounts } = result;
  return [
    section("run", [
      ["seed", result.seed],
      ["relays at a time, processes in all", `${result.relays}, ${result.relayProcesses}`],
      ["faults, drain, all", [result.faultsMs, result.drainMs, result.durationMs].map(seconds).join(", ")],
      ["delivered each second", result.deliveredPerSecond.toFixed(1)],
    ]),
    section("rows", [
      ["enqueued (committed)", rows.enqueued],
      ["delivered", rows.delivered],
      ["resolved as delivered by the operator", rows.resolvedAsDelivered],
      ["superseded by a later row", rows.superseded],
      ["skipped by the operator", rows.skippedByOperator],
      ["dead, refused by the receiver", rows.dead],
      ["lost", rows.lost],
      ["rolled back, never seen", rows.rolledBack],
      ["in doubt", rows.inDoubt],
      ["ordered keys", rows.keys],
      ["left out of the question of order (died once)", rows.leftOutOfOrder],
    ]),
    section("requests at the receiver", [
      ["raw requests", requests.raw],
      ["beyond the first of their row", requests.beyondFirst],
      ["taken in more than once (repeats)", requests.effectiveBeyondFirst],
      ["matched by an uncertain mark", requests.matchedByMark],
      ["matched by a definite no", requests.matchedByDefiniteNo],
      ["not matched", requests.unmatched],
      ["uncertain marks in the archive", requests.uncertainMarks],
      ["… of which reaps", requests.zombieMarks],
    ]),
    section("relays", [
      ["claims taken back", result.reapedClaims],
      ["rows reaped", relayCounts.reaped],
      ["late settles, without effect", relayCounts.lateSettles],
      ["settles tried again", relayCounts.settleErrors],
      ["claims that failed", relayCounts.claimErrors],
      ["wake-ups by NOTIFY", relayCounts.notifyWakeups],
      ["lanes repaired by the sweep", relayCounts.sweptLanes],
      ["most circuits open at once", result.maxOpenCircuits],
    ]),
    table(
      ["step boundary", "hits", "kill -9", "stopped"],
      relaySteps.map((step) => {
        const { hits, kills, stops } = result.steps[step];
        return [step, String(hits), String(kills), String(stops)];
      }),
    ),
    section("faults", Object.entries(result.faults)),
    section("what the receiver did", Object.entries(result.receiver)),
    section("errors in the server's log", Object.entries(result.databaseErrors)),
    section("what relays logged", Object.entries(result.logged)),
    renderFindings(result.findings),
  ].join("\n\n");
}

export function renderFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return "All invariants hold.";
  const parts = findings.map(({ invariant, count, examples }) =>
    [`BROKEN  ${invariant}  (${count})`, ...examples.map((example) => `  ${example}`)].join("\n"),
  );
  return parts.join("\n");
}

function section(title: string, entries: readonly (readonly [string, string | number])[]): string {
  return table(
    [title, ""],
    entries.map(([name, value]) => [name, typeof value === "number" ? value.toLocaleString("en-US") : value]),
  );
}

/** Numbers to the right, words to the left. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        /^[\d.,]/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [line(head), rule, ...body.map(line)].join("\n");
}
