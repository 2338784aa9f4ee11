import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createGithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import type { GithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { sandboxSecrets } from "../provider-harness.ts";
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
  const job = randomUUID();
  const payload = { owner: "acme", repo: "infra", workflow: "provision.yml", ref: "main", job_id: job };
  const captures = { run_id: ["run", "id"] };
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, key: job, payload, captures });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");

  const runs = sandbox.github.runs().filter(({ inputs }) => inputs["job_id"] === job);
  expect(runs).toHaveLength(1);
  const kept = await stage.query<{ value: number }>(
    "select c.value from outbox.captures c join outbox.lanes l on l.lane_id = c.lane_id where l.key = $1",
    [job],
  );
  expect(kept.map(({ value }) => value)).toEqual([runs[0]?.id]);
});
