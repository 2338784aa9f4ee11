/**
 * Leases: nothing is written under a claim that was taken back, and no claim is taken back from a relay that no
 * fault had hit.
 */
import type { Evidence, Line } from "./evidence.ts";
import type { FaultLog } from "./fault-log.ts";
import type { Findings } from "../kit/findings.ts";

/** The relay number of each process in the database. */
export type RelayNames = ReadonlyMap<number, string>;

/** Returns how many claims were taken back. */
export function checkLeases(evidence: Evidence, findings: Findings, faults: FaultLog, relays: RelayNames): number {
  const byClaim = new Map<number, Line[]>();
  for (const lines of evidence.lines.values()) {
    for (const [index, line] of lines.entries()) {
      if (line.claimId === null) continue;
      const known = byClaim.get(line.claimId);
      if (known === undefined) byClaim.set(line.claimId, [line]);
      else known.push(line);
      checkOutcome(lines[index - 1], line, findings);
    }
  }
  let reaped = 0;
  for (const [claimId, lines] of byClaim) {
    const reaps = lines.filter(({ state }) => state === "ZOMBIE_REQUEUE");
    if (reaps.length === 0) continue;
    reaped += 1;
    const reapedAtMs = Math.min(...reaps.map(({ atMs }) => atMs));
    const late = lines.find(({ state, atMs }) => state !== "ZOMBIE_REQUEUE" && state !== "FAILED" && atMs > reapedAtMs);
    if (late !== undefined) {
      findings.add("fence", `row ${late.outboxId}: ${late.state} was written under claim ${claimId} after its reap`);
    }
    checkExplained(claimId, lines, reapedAtMs, findings, faults, relays);
  }
  return reaped;
}

/** An outcome belongs to the claim under which its row was sent. */
function checkOutcome(before: Line | undefined, line: Line, findings: Findings): void {
  if (line.state === "DISPATCHING" || line.state === "SKIPPED") return;
  if (before?.state === "DISPATCHING" && before.claimId === line.claimId) return;
  // If the tries are used up, FAILED follows the reap directly, under the same claim.
  if (line.state === "FAILED" && before?.state === "ZOMBIE_REQUEUE" && before.claimId === line.claimId) return;
  findings.add(
    "fence",
    `row ${line.outboxId}: line ${line.attemptNo} (${line.state}, claim ${line.claimId}) follows ${before?.state ?? "nothing"} of claim ${before?.claimId ?? "-"}`,
  );
}

/** A healthy relay settles before its lease expires; if not, leases are too short for what they cover. */
function checkExplained(
  claimId: number,
  lines: readonly Line[],
  reapedAtMs: number,
  findings: Findings,
  faults: FaultLog,
  relays: RelayNames,
): void {
  const claimed = lines.find(({ state }) => state === "DISPATCHING");
  if (claimed?.relayId === undefined || claimed.relayId === null) return;
  const name = relays.get(claimed.relayId);
  // A relay that was killed before it could report its number cannot be identified.
  if (name === undefined) return;
  if (faults.explains(name, claimed.atMs, reapedAtMs)) return;
  const heldMs = Math.round(reapedAtMs - claimed.atMs);
  findings.add(
    "lease",
    `claim ${claimId} of ${name} was taken back after ${heldMs} ms, and nothing had happened to it`,
  );
}
