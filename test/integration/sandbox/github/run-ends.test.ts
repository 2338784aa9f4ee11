import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver } from "./callback-receiver.ts";
import { processesOf, setRunStage } from "./run-stage.ts";

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "headroom-sandbox-"));
});
afterAll(async () => {
  await rm(home, { recursive: true });
});

/** The step's command, its work, and the heartbeats; all in one folder. */
async function threeProcesses(job: string): Promise<string> {
  await expect.poll(() => processesOf(job).length, { timeout: 15_000 }).toBe(3);
  const folders = new Set(processesOf(job).map((each) => each.folder));
  expect(folders.size).toBe(1);
  return [...folders][0] ?? "";
}

async function gone(job: string, folder?: string): Promise<void> {
  await expect.poll(() => processesOf(job), { timeout: 15_000 }).toEqual([]);
  if (folder !== undefined) await expect.poll(() => existsSync(folder), { timeout: 15_000 }).toBe(false);
}

test("a sandbox that closes ends everything that its runs started", async () => {
  const job = randomUUID();
  let folder: string;
  {
    await using stage = await setRunStage({ speed: "slow" }, { runTimeScale: 0.1 });
    await stage.dispatch({ job });
    await stage.receiver.heardAtLeast(1, "heartbeat");
    folder = await threeProcesses(job);
  }
  await gone(job, folder);
});

test("so does one that is reset, and the runs that it deletes report nothing more", async () => {
  await using stage = await setRunStage({ outcome: "hangs", step: 1 });
  const job = randomUUID();
  await stage.dispatch({ job });
  await stage.receiver.heardAtLeast(1, "heartbeat");
  stage.sandbox.reset();
  await gone(job);
  await stage.sandbox.webhooks.done();
  const heard = stage.ear.heard.length;
  // Ids start over; the deleted run must not be mistaken for this one.
  stage.sandbox.github.planNext({ speed: "instant" });
  expect((await stage.sandbox.github.ended(await stage.dispatch())).conclusion).toBe("success");
  await stage.sandbox.webhooks.done();
  expect(stage.ear.heard.slice(heard)).toHaveLength(3);
});

test("a restarted sandbox shows running runs as failed, and continues with waiting ones", async () => {
  const keepIn = join(home, "kept.json");
  const job = randomUUID();
  let [first, second] = [0, 0];
  {
    await using stage = await setRunStage({ outcome: "hangs", step: 1 }, { keepIn });
    first = await stage.dispatch({ job });
    await stage.receiver.heardAtLeast(1, "heartbeat");
    stage.sandbox.github.planNext({ speed: "instant", outcome: "succeeds" });
    second = await stage.dispatch({ job, task: "cleanup" });
    expect(stage.sandbox.github.run(second).status).toBe("queued");
  }
  await using stage = await setRunStage({}, { keepIn });
  expect(stage.sandbox.github.run(first)).toMatchObject({ status: "completed", conclusion: "failure" });
  expect(await stage.sandbox.github.ended(second)).toMatchObject({ conclusion: "success", runAttempt: 1 });
});

/** A sandbox in a separate process, with a run that hangs; prints the address at which runs are dispatched. */
const program = `
import { defaultSampleData } from "${new URL("../../../../src/sandbox/sample-data.ts", import.meta.url).href}";
import { startSandbox } from "${new URL("../../../../src/sandbox/sandbox.ts", import.meta.url).href}";
const secret = "x".repeat(32);
const sandbox = await startSandbox({
  sampleData: defaultSampleData,
  runTimeScale: 0.1,
  secrets: {
    slackSigningSecret: secret, linearWebhookSecret: secret, githubWebhookSecret: secret, stripeWebhookSecret: secret,
    provisioningCallbackSecret: process.env.CALLBACK_SECRET,
    provisioningCallbackUrl: process.env.CALLBACK_URL,
  },
});
sandbox.github.planNext({ speed: "slow" });
console.log(sandbox.url);
`;

test("a sandbox that is killed takes its runs with it, within a moment", async () => {
  const receiver = await startReceiver();
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { CALLBACK_SECRET: receiver.secret, CALLBACK_URL: receiver.url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const job = randomUUID();
  const inputs = { job_id: job, attempt: "1", task: "provision", workspace: "default", callback_url: receiver.url };
  await fetch(`${url}/github/repos/acme/infra/actions/workflows/provision.yml/dispatches`, {
    method: "POST",
    headers: { authorization: "Bearer x" },
    body: JSON.stringify({ ref: "main", inputs }),
  });
  await receiver.heardAtLeast(1, "heartbeat");
  const folder = await threeProcesses(job);
  child.kill("SIGKILL");
  await once(child, "close");
  await gone(job, folder);
  await receiver.close();
});
