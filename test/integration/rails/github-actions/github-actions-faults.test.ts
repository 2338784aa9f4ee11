import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createGithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import type { GithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { sandboxSecrets } from "../harness.ts";
import { messageOf, notAborted } from "../messages.ts";
import { githubToken } from "../provider-plans.ts";

const stage = await createStage();
let sandbox: Sandbox;
let rail: GithubActionsRail;

beforeAll(async () => {
  sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: sandboxSecrets });
});
beforeEach(() => {
  sandbox.reset();
  rail = createGithubActionsRail({
    token: githubToken,
    apiUrl: `${sandbox.url}/github`,
    timeoutMs: 700,
    visibleAfterMs: 50,
  });
});
afterEach(() => rail.close());
afterAll(() => sandbox.close());

/** For a workflow that the sandbox does not run automatically. */
const place = { owner: "acme", repo: "infra", workflow: "deploy.yml" };

const kinds: readonly FaultKind[] = [
  "rateLimit",
  "error500",
  "error500AfterAccept",
  "hangBeforeAccept",
  "hang",
  "dropBeforeAccept",
  "dropAfterAccept",
  "cutAnswer",
  "garbage",
  "late",
];

test.each(kinds)("GitHub fails (%s), and one run is started, whose id is known", async (kind) => {
  sandbox.faults.add({ provider: "github", method: "dispatch", kind, times: 2, retryAfterSeconds: 0 });
  await stage.declare(rail);
  const stream = await stage.stream({ ordered: true, maxTries: 50, backoffBaseMs: 10, backoffCapMs: 50 });
  await stage.grant(stream, rail);
  const job = randomUUID();
  const inputs = { job_id: job, attempt: "2", task: "cleanup" };
  const payload = { ...place, ref: "main", job_id: job, run_mark: `${job}/cleanup-2`, inputs };
  const captures = { run_id: ["run", "id"] };
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, key: job, payload, captures });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");

  const runs = sandbox.github.runs().filter((run) => run.inputs["job_id"] === job);
  expect(runs).toHaveLength(1);
  expect(await captured(job)).toEqual([runs[0]?.id]);
});

async function captured(key: string): Promise<unknown[]> {
  const kept = await stage.query<{ value: unknown }>(
    "select c.value from outbox.captures c join outbox.lanes l on l.lane_id = c.lane_id where l.key = $1",
    [key],
  );
  return kept.map(({ value }) => value);
}

/** A run of a separate job, and the row that stops it. */
async function startRun() {
  const job = randomUUID();
  const inputs = { job_id: job, attempt: "1" };
  const since = new Date().toISOString();
  await rail.send(messageOf({ ...place, ref: "main", job_id: job, run_mark: `${job}/1`, inputs }), notAborted);
  const run = () => sandbox.github.runs().find((each) => each.inputs["job_id"] === job);
  return { job, run, stop: { operation: "stop", ...place, run_mark: `${job}/1`, since } };
}

test.each(kinds)("GitHub fails (%s), and a run is stopped, and no other", async (kind) => {
  const { job, run, stop } = await startRun();
  const other = await startRun();
  sandbox.faults.add({ provider: "github", method: "cancelRun", kind, times: 2, retryAfterSeconds: 0 });
  await stage.declare(rail);
  const stream = await stage.stream({ ordered: true, maxTries: 50, backoffBaseMs: 10, backoffCapMs: 50 });
  await stage.grant(stream, rail);
  const captures = { runs: ["runs"] };
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, key: job, payload: stop, captures });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(run()).toMatchObject({ status: "completed", conclusion: "cancelled" });
  expect(await captured(job)).toMatchObject([[{ id: run()?.id, status: "completed", conclusion: "cancelled" }]]);
  expect(other.run()).toMatchObject({ status: "queued" });
});

test("a run that is slow to stop is waited for, and finally stopped by force", async () => {
  const { run, stop } = await startRun();
  sandbox.github.slowToStop(true);
  const row = messageOf(stop);
  expect(await rail.send(row, notAborted)).toMatchObject({ kind: "retry", code: "still_running" });
  expect(await rail.send({ ...row, tryNo: 3 }, notAborted)).toMatchObject({ code: "still_running" });
  expect(run()).toMatchObject({ status: "queued" });
  expect(await rail.send({ ...row, tryNo: 4 }, notAborted)).toMatchObject({
    kind: "delivered",
    response: { runs: [{ id: run()?.id, attempt: 1, status: "completed", conclusion: "cancelled" }] },
  });
});

test("a run is watched by its id and by its mark", async () => {
  const { run, stop } = await startRun();
  const id = run()?.id ?? 0;
  sandbox.github.begin(id);
  const told = { id, attempt: 1, status: "in_progress", conclusion: null, url: expect.stringContaining(String(id)) };
  for (const payload of [
    { ...stop, operation: "watch" },
    { ...stop, operation: "watch", run_id: id },
  ]) {
    expect(await rail.send(messageOf(payload), notAborted)).toMatchObject({ response: { runs: [told] } });
  }
  const gone = { ...stop, operation: "watch", run_id: 1 };
  expect(await rail.send(messageOf(gone), notAborted)).toMatchObject({ kind: "delivered", response: { runs: [] } });
});
