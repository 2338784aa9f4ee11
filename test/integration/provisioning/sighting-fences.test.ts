/**
 * Queries to GitHub whose answers arrive late: a query that began before a run was started again, or before another run had the job,
 * neither fails nor completes the current try. Queries are settled and callbacks received on separate connections, in the order that each
 * name says.
 */
import { describe, expect, test } from "vitest";
import type { TestClient } from "../../helpers/database.ts";
import { startProvisioning, type Job } from "./harness.ts";

const p = await startProvisioning(18);
let lastRun = 5_000_000;

interface Run {
  readonly id: number;
  readonly attempt: number;
  readonly status: string;
  readonly conclusion: string | null;
}
const ended = (id: number, attempt: number, conclusion: string): Run => ({
  id,
  attempt,
  status: "completed",
  conclusion,
});
const going = (id: number, attempt: number): Run => ({ id, attempt, status: "in_progress", conclusion: null });

/** A job whose dispatch started this run, which has not reported anything. */
async function started(): Promise<{ job: Job; id: number }> {
  const job = await p.confirmed();
  const id = (lastRun += 1);
  await p.dispatched(job, { run_id: id });
  return { job, id };
}

/** A relay settles the answer of a query, in a transaction that is still open. */
async function settling(job: Job, runs: readonly Run[], task = "provision"): Promise<TestClient> {
  const client = await p.db.superuser.connect();
  await client.query("begin");
  await client.query("select headroom.run_hooks('outbox.captured', $1)", [
    JSON.stringify([
      { stream: "provisioning", rail: "github-actions", key: `watch:${job.id}`, name: `${task}-1`, value: runs },
    ]),
  ]);
  return client;
}

const arrives = async (look: TestClient): Promise<void> => {
  await look.query("commit");
  await look.end();
};

describe.each(["failure", "cancelled", "success", "startup_failure"])("a first try that ended as %s", (conclusion) => {
  test("a query begins, the run is started again and has the job, the query's answer arrives: nothing follows", async () => {
    const { job, id } = await started();
    const look = await settling(job, [ended(id, 1, conclusion)]);
    await p.says(job, { signal: "claim", run_id: id, run_attempt: 2 });
    await arrives(look);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 claimed"]);
    expect(await p.says(job, { signal: "succeeded", run_id: id, run_attempt: 2 })).toMatchObject({
      outcome: "accepted",
    });
    expect((await p.row(job.request_id)).state).toBe("COMPLETED");
    expect(await p.findings()).toEqual([]);
  });

  test("two queries: what one saw of the second try counts, whichever answer arrives first", async () => {
    for (const order of ["old first", "new first"]) {
      const { job, id } = await started();
      const old = await settling(job, [ended(id, 1, conclusion)]);
      if (order === "new first") {
        const young = p.sighted(job, "provision-1", [going(id, 2)]);
        // The second waits for the row that the first has written, and no longer.
        await arrives(old);
        await young;
      } else {
        await arrives(old);
        await p.sighted(job, "provision-1", [going(id, 2)]);
      }
      await p.sweep();
      expect(await p.runs(job)).toEqual(["provision 1 dispatched"]);
      await p.says(job, { signal: "claim", run_id: id, run_attempt: 2 });
      await p.sighted(job, "provision-1", [ended(id, 1, conclusion)]);
      await p.sweep();
      expect(await p.runs(job)).toEqual(["provision 1 claimed"]);
    }
  });

  test("another run has the job: a sighting of the first says nothing about it", async () => {
    const { job, id } = await started();
    const look = await settling(job, [ended(id - 1, 1, conclusion)]);
    await p.says(job, { signal: "claim", run_id: id });
    await arrives(look);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 claimed"]);
  });

  test("a query about a cleanup's first try neither ends nor completes its second", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "failed" });
    const id = (lastRun += 1);
    await p.dispatched(job, { task: "cleanup", attempt: 1, run_id: id });
    const look = await settling(job, [ended(id, 1, conclusion)], "cleanup");
    await p.says(job, { signal: "claim", task: "cleanup", run_id: id, run_attempt: 2 });
    await arrives(look);
    await p.sweep();
    expect((await p.runs(job)).at(-1)).toBe("cleanup 1 claimed");
    expect((await p.job(job.request_id)).cleanup).toBe("under_way");
  });
});

test("a sighting of the current try counts", async () => {
  const { job, id } = await started();
  await p.says(job, { signal: "claim", run_id: id, run_attempt: 2 });
  await p.sighted(job, "provision-1", [ended(id, 2, "success")]);
  await p.sweep();
  expect(await p.runs(job)).toEqual(["provision 1 succeeded run_ended"]);
});

test("a run that we stopped and somebody started again has not ended while its second try runs", async () => {
  const { job, id } = await started();
  await p.says(job, { signal: "claim", run_id: id });
  await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
  await p.says(job, { signal: "succeeded", task: "cleanup", run_id: (lastRun += 1) });
  await p.sighted(job, "provision-1", [going(id, 2)]);
  await p.sighted(job, "provision-1", [ended(id, 1, "cancelled")]);
  await p.sweep();
  expect(await turnOf(job)).toBe(true);
  await p.sighted(job, "provision-1", [ended(id, 2, "cancelled")]);
  await p.sweep();
  expect(await turnOf(job)).toBe(false);
});

async function turnOf(job: Job): Promise<unknown> {
  return ((await p.job(job.request_id)) as unknown as { has_turn: boolean }).has_turn;
}
