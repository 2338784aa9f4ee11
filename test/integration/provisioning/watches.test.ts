/** Looks at several runs of a job at once: none takes the place of another's. */
import { beforeAll, expect, test } from "vitest";
import { oneOf } from "../capacity/workflow.ts";
import { Engine } from "../outbox/engine.ts";
import { startProvisioning, type Job } from "./jobs.ts";

const p = await startProvisioning(18);
const engine = new Engine(p.db);
beforeAll(() => engine.start());

/** A relay makes every call that waits; GitHub refuses to stop runs. Answers which runs of the job were looked at, by the end of their marks. */
async function calls(job: Job): Promise<string[]> {
  const { id } = await oneOf<{ id: number }>(p.superuser, "select outbox.stream_id('provisioning') as id");
  const stream = { id, name: "provisioning" };
  const marks: string[] = [];
  for (;;) {
    const rows = await engine.claim(stream);
    if (rows.length === 0) return marks.sort();
    const results = rows.map((row) => {
      const call = JSON.parse(row.body) as { run_mark: string; operation?: string };
      if (row.key === `watch:${job.id}`) marks.push(call.run_mark.split("/")[1] ?? "");
      return call.operation === "stop" ? { row, outcome: "rejected" as const } : { row };
    });
    await engine.settle(stream, results);
  }
}

test("GitHub is asked about a quiet cleanup, also while a run that could not be stopped is asked about", async () => {
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
