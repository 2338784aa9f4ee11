/** Queries about several runs of a job at the same time: none replaces another's. */
import { beforeAll, expect, test } from "vitest";
import { oneOf } from "../capacity/harness.ts";
import { Engine } from "../outbox/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";

const p = await startProvisioning(18);
const engine = new Engine(p.db);
beforeAll(() => engine.start());

/**
 * A relay makes every waiting call; GitHub refuses to stop runs. Returns which of the job's runs were queried, by the end of their marks.
 */
async function calls(job: Job): Promise<string[]> {
  const { id } = await oneOf<{ id: number }>(p.superuser, "select outbox.stream_id('provisioning') as id");
  const stream = { id, name: "provisioning" };
  const marks: string[] = [];
  for (;;) {
    const rows = await engine.claim(stream);
    if (rows.length === 0) return marks.toSorted();
    const results = rows.map((row) => {
      const call = JSON.parse(row.body) as { run_mark: string; operation?: string };
      if (row.key === `watch:${job.id}`) marks.push(call.run_mark.split("/")[1] ?? "");
      return call.operation === "stop" ? { row, outcome: "rejected" as const } : { row };
    });
    await engine.settle(stream, results);
  }
}

test("GitHub is asked about a silent cleanup, even while it is asked about a run that could not be stopped", async () => {
  const job = await p.confirmed();
  await calls(job);
  await p.says(job, { signal: "claim" });
  await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
  await calls(job);
  await p.says(job, { signal: "claim", task: "cleanup", run_id: 91 });
  await p.age(job, 3);
  await p.sweep();
  expect(await calls(job)).toEqual(["1", "cleanup-1"]);
});

test.each([
  ["lists no run", []],
  ["shows a running run", [{ id: 92, attempt: 1, status: "in_progress", conclusion: null }]],
])("a silent attempt is given up, even when GitHub %s right before every query", async (_what, runs) => {
  const job = await p.confirmed();
  await p.delivered(job, { of: "1", what: "dispatch" }, 11);
  await p.age(job, 11);
  for (let looks = 0; looks < 3; looks += 1) {
    await p.sighted(job, "provision-1", runs);
    await p.superuser.query("update provisioning.jobs set next_look_at = now() where id = $1", [job.id]);
    await p.superuser.query("select public.run_capacity_request_timers()");
  }
  expect((await p.runs(job))[0]).toBe("provision 1 stopped stale");
});
