/**
 * Many customers confirm five requests each at the same time, while GitHub answers half of the dispatches with an error after it has
 * started the run. A real relay and rail against the sandbox's GitHub; the runs report as the workflow script does.
 *
 * What must hold: each job is claimed by one run, no customer has two jobs in progress, and all jobs end.
 */
import { expect, test } from "vitest";
import { createRelay } from "../../../src/outbox/index.ts";
import { createGithubActionsRail } from "../../../src/rails/github-actions/rail.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { until } from "../outbox/relay/stage.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { secrets } from "../sandbox/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";

/** A hundred take minutes, and more of them prove nothing more. HEADROOM_CROWD sets another number. */
const customers = Number(process.env["HEADROOM_CROWD"] ?? 12);
const each = 5;

const p = await startProvisioning(18);

test(`${customers} customers with ${each} requests each`, { timeout: 900_000 }, async () => {
  await using cleanup = new AsyncDisposableStack();
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets });
  cleanup.defer(() => sandbox.close());
  sandbox.faults.add({
    provider: "github",
    method: "dispatch",
    kind: "error500AfterAccept",
    probability: 0.5,
    seed: 11,
  });
  await rowsOf(p.superuser, "select provisioning.put_settings('acme', $1)", [
    JSON.stringify({ owner: "acme", repo: "infrastructure", provision_workflow: "deploy.yml" }),
  ]);
  const rail = createGithubActionsRail({ token: "sandbox", apiUrl: `${sandbox.url}/github`, visibleAfterMs: 50 });
  cleanup.defer(() => rail.close());
  const relay = createRelay({
    connectionString: p.db.as("headroom_executor").url,
    rails: [rail],
    streams: ["provisioning"],
    pollMs: 250,
  });
  await relay.start();
  cleanup.defer(() => relay.stop());

  const ids: string[] = [];
  for (let customer = 0; customer < customers; customer += 1) {
    for (let n = 0; n < each; n += 1) {
      const ref = { org_id: `crowd-${customer}`, name: `Crowd ${customer}` };
      ids.push(await p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer: ref }));
    }
  }
  await Promise.all(ids.map((id) => p.apply(id, "CUSTOMER_CONFIRMED", "customer:customer")));

  // A run claims when it is first seen and reports when it is seen again; in between the sweep reads GitHub's answers.
  const claimed = new Set<number>();
  await until(
    async () => {
      for (const run of sandbox.github.runs().filter(({ status }) => status !== "completed")) {
        const job = { id: run.inputs["job_id"] } as Job;
        const signal = claimed.has(run.id) ? "succeeded" : "claim";
        const heard = await p.says(job, { signal, run_id: run.id, attempt: Number(run.inputs["attempt"]) });
        claimed.add(run.id);
        if (signal === "succeeded" || !heard.go_on)
          sandbox.github.finish(run.id, heard.outcome === "accepted" ? "success" : "cancelled");
      }
      await p.sweep();
      const { most } = await oneOf<{ most: number | null }>(
        p.superuser,
        `select max(n)::integer as most from (select count(*) as n from provisioning.jobs
          where state in ('queued', 'provisioning') and customer_key is not null group by customer_key) c`,
      );
      expect(most ?? 0).toBeLessThanOrEqual(1);
      return rowsOf<Job>(p.superuser, "select * from provisioning.jobs where state <> 'running'");
    },
    (open) => open.length === 0,
    "all jobs to run",
    800_000,
  );

  const { rows } = await oneOf<{ rows: unknown[] }>(
    p.superuser,
    `select coalesce(jsonb_agg(x), '[]') as rows from (
       select j.id, count(distinct (a.run_id, a.run_attempt)) as runs, count(distinct c.run_id) as obeyed
         from provisioning.jobs j join provisioning.attempts a on a.job_id = j.id
         left join provisioning.callbacks c on c.job_id = j.id and c.outcome = 'accepted'
        group by j.id having count(distinct (a.run_id, a.run_attempt)) <> 1 or count(distinct c.run_id) <> 1) x`,
  );
  expect(rows).toEqual([]);
  // Half of the answers said that it had failed, and none of them made a second run.
  expect(sandbox.github.runs()).toHaveLength(ids.length);
  expect(sandbox.faults.list()[0]?.hits ?? 0).toBeGreaterThan(ids.length / 5);
  expect(await p.findings()).toEqual([]);
  expect((await rowsOf(p.superuser, "select from capacity.requests where state = 'COMPLETED'")).length).toBe(
    ids.length,
  );
});
