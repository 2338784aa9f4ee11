/**
 * I4, I5 and I6, asked of the database alone: while everything runs, and at the end.
 */
import type { Client } from "pg";
import { findViolations } from "../helpers/invariants.ts";
import type { Findings } from "./findings.ts";

/** The client must be of no further use for anything quick: its planner is told to expect much. */
export async function audit(client: Client, findings: Findings, when: "" | " (while running)"): Promise<void> {
  // A run fills its tables within minutes, and a plan for empty ones would compare every row with every other.
  await client.query("analyze outbox.attempts, outbox.payloads, outbox.lanes, outbox.pending, outbox.dead");
  await client.query("set enable_nestloop = off");
  for (const { invariant, subject, detail } of await findViolations(client)) {
    findings.add(`${invariant}${when}`, `${subject} ${detail}`);
  }
}
