/**
 * Workspaces whose messages fail: rows of tenants on their own streams, settled with any outcome as a relay settles them, and who was notified.
 *
 * Does not own: what is asserted.
 */
import { beforeAll, beforeEach } from "vitest";
import type { EmbeddedVersion } from "../../../../src/db/embedded.ts";
import { Engine, unique, type Claimed, type Result, type Stream } from "../../outbox/harness.ts";
import { oneOf, rowsOf, startWorkflow, type Workflow } from "../harness.ts";

export interface Told {
  readonly to: string;
  readonly title: string;
  readonly body: string;
}

export class Troubled {
  readonly workflow: Workflow;
  readonly engine: Engine;

  constructor(workflow: Workflow) {
    this.workflow = workflow;
    this.engine = new Engine(workflow.db);
  }

  get db() {
    return this.workflow.superuser;
  }

  /** A row of a workspace, under its own key, on a rail that its stream may use. */
  async enqueue(stream: Stream, row: { tenant?: string; rail?: string; destination?: string; expires?: string } = {}) {
    const { tenant = "acme", rail = "sure", destination = null, expires = null } = row;
    const key = unique("k");
    await rowsOf(this.db, "select outbox.grant_rail($1, $2)", [stream.name, rail]);
    const { id } = await oneOf<{ id: string }>(
      this.db,
      `select outbox_id as id from outbox.add_row(false, $1, $2, $3, $3, '1', $4, '{}', p_destination => $5,
                                                  p_expires_at => now() + $6::interval)`,
      [tenant, stream.name, key, rail, destination, expires],
    );
    return id;
  }

  /** Gives everything due on a stream the same outcome. */
  async end(stream: Stream, outcome: Result["outcome"], code = "http_503"): Promise<Claimed[]> {
    const rows = await this.engine.claim(stream);
    if (rows.length > 0)
      await this.engine.settle(
        stream,
        rows.map((row) => ({ row, outcome: outcome ?? "delivered", code })),
      );
    return rows;
  }

  /** Ends the pauses of a destination. */
  async letPass(destination: string, stream: Stream): Promise<void> {
    await rowsOf(
      this.db,
      `update outbox.gates set next_slot_at = least(next_slot_at, now()), open_until = least(open_until, now()),
         probe_until = least(probe_until, now()) where name = $1`,
      [destination],
    );
    await this.engine.makeDue(stream);
  }

  /** Lets problems that are reported once be reported again from now on. */
  async tenMinutesPass(): Promise<void> {
    await rowsOf(this.db, "update capacity.problems_told set told_at = told_at - interval '10 minutes'");
  }

  async release(): Promise<void> {
    await rowsOf(this.db, "select * from notify.release()");
  }

  async told(cause: string, workspace = "acme"): Promise<Told[]> {
    return rowsOf(
      this.db,
      `select recipient as to, title, body from notify.notifications where cause = $1 and workspace_id = $2
        order by created_at, recipient`,
      [cause, workspace],
    );
  }

  async titles(cause: string, workspace = "acme"): Promise<string[]> {
    return (await this.told(cause, workspace)).map(({ to, title }) => `${to}: ${title}`);
  }
}

/** Call it while tests are being collected. Otto operates Acme, Glen Globex; each test begins as if nothing had been reported. */
export async function startTroubled(version: EmbeddedVersion): Promise<Troubled> {
  const troubled = new Troubled(await startWorkflow(version));
  beforeAll(async () => {
    await troubled.engine.start();
    await rowsOf(troubled.db, "update directory.members set email = id || '@' || workspace_id || '.example'");
    await rowsOf(troubled.db, "update outbox.limits set min_interval_ms = 0");
  });
  beforeEach(async () => {
    for (const table of ["capacity.problems", "capacity.problems_told", "capacity.circuits_told"])
      await rowsOf(troubled.db, `delete from ${table}`);
    await rowsOf(troubled.db, "delete from notify.notifications");
    await rowsOf(troubled.db, "delete from notify.parts");
  });
  return troubled;
}
