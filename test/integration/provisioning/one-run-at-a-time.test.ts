/**
 * Runs of one customer at the sandbox's GitHub, whose runs are processes and take a while to stop. With a real server and a real relay, no
 * two of them ever run at the same time, whatever ends the first.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { calm } from "../../chaos/provisioning/settings.ts";
import { ProvisioningStage, type Job } from "../../chaos/provisioning/stage.ts";
import { pause } from "../../../src/db/wait/pause.ts";

let stage: ProvisioningStage;
beforeAll(async () => {
  stage = await ProvisioningStage.open();
  await stage.startRelay();
});
afterAll(() => stage.close());

const deadlineMs = 60_000;

async function eventually(what: string, isThere: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await isThere())) {
    if (performance.now() > end) throw new Error(`Never: ${what}`);
    await pause(20);
  }
}

const ways: readonly (readonly [string, (job: Job) => Promise<unknown>])[] = [
  ["its request is cancelled", ({ request_id: id }) => stage.apply(id, "CANCEL_APPROVED", "user", "rita")],
  ["it falls silent", (job) => stage.age(job, 11)],
  [
    "an operator records that it failed",
    ({ request_id: id }) => stage.apply(id, "PROVISIONING_FAILED", "user", "otto"),
  ],
];

test.each(ways)(
  "a run that is slow to stop holds back the customer's next one until it has ended, when %s",
  { timeout: 2 * deadlineMs },
  async (_way, end) => {
    const customer = `one-${ways.findIndex(([, each]) => each === end)}`;
    stage.sandbox.github.planNext({ ...calm, outcome: "hangs", slowToStop: true, affects: "provision" });
    const first = await stage.confirm(await stage.request(customer));
    const next = await stage.confirm(await stage.request(customer));
    // One that has reached its last step, which reports, has done its work.
    const running = (): string[] =>
      [...stage.runsOf(first), ...stage.runsOf(next)]
        .filter(({ status, script }) => status === "in_progress" && script?.steps.at(-1)?.state === "waits")
        .map(({ title }) => title);
    await eventually("the first run hangs", () =>
      stage.runsOf(first).some(({ script }) => script?.log.includes("This step hangs on purpose.") === true),
    );
    stage.sandbox.github.planNext(calm);
    await end(first);
    let most: string[] = [];
    await eventually("the next one runs", async () => {
      if (running().length > most.length) most = running();
      await stage.passTime();
      if (running().length > most.length) most = running();
      return (await stage.job(next.request_id)).state === "running";
    });
    expect(most).toHaveLength(1);
    const [stopped] = stage.runsOf(first, "provision");
    expect(stopped).toMatchObject({ status: "completed", conclusion: "cancelled" });
    const [over] = await stage.rows<{ how: string }>(
      "select over_because as how from provisioning.attempts where job_id = $1 and task = 'provision'",
      [first.id],
    );
    expect(over?.how).toBe("seen");
    expect(stage.runsOf(next, "provision")).toHaveLength(1);
  },
);
