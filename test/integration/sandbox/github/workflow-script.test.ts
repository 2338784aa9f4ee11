import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { terms, type Heard } from "./callback-receiver.ts";
import { begin, ended, facts, isAlive, signals } from "./workflow-stage.ts";

describe("a run that succeeds", () => {
  test("claims, passes the terms on, reports its steps, keeps sending heartbeats, and reports", async () => {
    const { receiver, env, ...workflow } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.2 };
    expect(await workflow.run(["start"])).toEqual({
      code: 0,
      said: "headroom: this run has the job (request_id CR-2026-000123, size 32XL, quantity 4, region us-east-1, duration_days 90)\n",
    });
    expect(await workflow.written("env")).toEqual({
      HEADROOM_REQUEST_ID: "CR-2026-000123",
      HEADROOM_SIZE: "32XL",
      HEADROOM_QUANTITY: "4",
      HEADROOM_REGION: "us-east-1",
      HEADROOM_DURATION_DAYS: "90",
    });
    expect(await workflow.written("output")).toEqual({
      request_id: "CR-2026-000123",
      size: "32XL",
      quantity: "4",
      region: "us-east-1",
      duration_days: "90",
    });
    expect((await workflow.run(["step", "Create the machines", "40"])).code).toBe(0);
    await receiver.heardAtLeast(3, "heartbeat");
    const pid = await workflow.heartbeatsPid();
    expect(isAlive(pid)).toBe(true);
    const last = await workflow.run(["finish"], { HEADROOM_RESULT: "success" });
    expect(last).toEqual({ code: 0, said: "headroom: reported that it succeeded\n" });
    await ended(pid);

    const own = {
      workspace: "default",
      job_id: env["HEADROOM_JOB_ID"],
      task: "provision",
      attempt: 1,
      run_id: 9_000_000_001,
      run_attempt: 1,
    };
    expect(facts(receiver.heard[0] as Heard)).toEqual({ ...own, signal: "claim" });
    expect(facts(receiver.heard.at(-1) as Heard)).toEqual({ ...own, signal: "succeeded" });
    const beats = receiver.heard.slice(1, -1).filter(({ step }) => step !== undefined);
    for (const beat of beats)
      expect(facts(beat)).toEqual({ ...own, signal: "heartbeat", step: "Create the machines", progress: 40 });
    expect(receiver.refused).toEqual([]);
  });

  test("a gateway that needs a key and plain text gets them", async () => {
    const { receiver, run } = await begin();
    const url = receiver.url.replace("/webhooks/provisioning", "/rest/v1/rpc/handle_provisioning_callback");
    await run(["start"], { HEADROOM_CALLBACK_URL: url, HEADROOM_API_KEY: "anon" });
    await run(["start"]);
    const [first, second] = receiver.heard.map(({ headers }) => [headers["content-type"], headers["apikey"]]);
    expect([first, second]).toEqual([
      ["text/plain", "anon"],
      ["application/json", undefined],
    ]);
  });
});

describe("a run that is told to stop", () => {
  test("at its claim says why, fails, and reports nothing", async () => {
    const { receiver, run, folder } = await begin();
    await run(["start"], { GITHUB_RUN_ID: "9000000002" });
    const second = await run(["start"]);
    expect(second).toEqual({
      code: 1,
      said: "headroom: this run stops, and reports nothing: Another run has the job.\n",
    });
    expect((await run(["step", "Create"])).code).toBe(1);
    expect((await run(["exec", "--", process.execPath, "-e", "1"])).code).toBe(1);
    expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(1);
    expect(signals(receiver)).toEqual(["claim", "claim"]);
    expect(existsSync(join(folder, "headroom", "heartbeats"))).toBe(false);
  });

  test("by a step's heartbeat ends there", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    await run(["start"]);
    const pid = await heartbeatsPid();
    receiver.plan("heartbeat", "stop");
    const told = await run(["step", "Create"]);
    expect(told).toEqual({
      code: 1,
      said: 'headroom: step "Create"\nheadroom: this run stops, and reports nothing: The job is over.\n',
    });
    await ended(pid);
    expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(1);
    expect(signals(receiver)).toEqual(["claim", "heartbeat"]);
  });

  test("by a heartbeat in the background has its command ended, and reports nothing", async () => {
    const { receiver, run, heartbeatsPid, written, folder } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.1 };
    await run(["start"]);
    const pid = await heartbeatsPid();
    await run(["step", "Create"]);
    // A script whose own command does the work: both have to end.
    const command = run(["exec", "--", "sh", "-c", `sleep 1000 & echo $! > "${join(folder, "pid")}"; wait`]);
    await expect.poll(() => existsSync(join(folder, "pid")), { timeout: 15_000 }).toBe(true);
    await receiver.heardAtLeast(3, "heartbeat");
    receiver.plan("heartbeat", "stop", "stop", "stop", "stop");
    const { code, said } = await command;
    expect({ code, said }).toEqual({
      code: 1,
      said: "headroom: this run stops, and reports nothing: The job is over.\n",
    });
    expect(await written("env")).not.toHaveProperty("HEADROOM_ERROR");
    await ended(pid);
    await ended(Number(await readFile(join(folder, "pid"), "utf8")));
    expect((await run(["step", "Check"])).code).toBe(1);
    expect((await run(["finish"], { HEADROOM_RESULT: "success" })).code).toBe(1);
    expect(signals(receiver).filter((signal) => signal !== "heartbeat")).toEqual(["claim"]);
  });

  test("with its result is told that it did not count", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    receiver.plan("succeeded", "stop");
    expect(await run(["finish"], { HEADROOM_RESULT: "success" })).toEqual({
      code: 1,
      said: "headroom: Headroom did not count that it succeeded: The job is over.\n",
    });
  });
});

describe("a run that fails", () => {
  test("reports at which step and why, in the last output of its command, which does not know the secret", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    await run(["step", "Reserve", "10"]);
    await run(["step", "Create", "40"]);
    const fails = `
      console.error(Array.from({ length: 30 }, (_, n) => "line " + n).join("\\n"));
      console.error("\\x1b[31mquota exceeded\\x1b[0m " + process.env.HEADROOM_SIZE + " " + process.env.HEADROOM_CALLBACK_SECRET);
      process.exit(7);`;
    const { code, said } = await run(["exec", "--", process.execPath, "-e", fails]);
    expect(code).toBe(7);
    expect(said).toContain("line 0\n");
    expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(0);
    const { error, failed_step: failedStep } = receiver.heard.at(-1) as Heard;
    expect(failedStep).toBe("Create");
    expect(error).toMatch(/^line 11 \| line 12 .* \| quota exceeded 32XL undefined$/);
  });

  test.each([
    {
      what: "a command that fails without output",
      words: ["-e", "process.exit(3)"],
      code: 3,
      error: "The command ended with 3.",
    },
    {
      what: "a command that is killed",
      words: ["-e", "process.kill(process.pid, 'SIGKILL')"],
      code: 137,
      error: "The command ended with 137.",
    },
  ])("$what", async ({ words, code, error }) => {
    const { receiver, run } = await begin();
    await run(["start"]);
    expect((await run(["exec", "--", process.execPath, ...words])).code).toBe(code);
    await run(["finish"], { HEADROOM_RESULT: "failure" });
    expect(receiver.heard.at(-1)).toMatchObject({ signal: "failed", error });
    expect(receiver.heard.at(-1)).not.toHaveProperty("failed_step");
  });

  test("a missing command is reported by name", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    expect((await run(["exec", "--", "/nowhere/terraform"])).code).toBe(127);
    await run(["finish"], { HEADROOM_RESULT: "failure" });
    expect(receiver.heard.at(-1)?.error).toContain("/nowhere/terraform cannot be run");
  });

  test("a command's words stay words, whatever is in them", async () => {
    const { run, folder } = await begin();
    await run(["start"]);
    const print = "console.log(JSON.stringify(process.argv.slice(1)))";
    const words = ["$(touch pwned)", "; exit 9", "`id`", 'a"b', "--", "two words"];
    const { said } = await run(["exec", "--", process.execPath, "-e", print, "--", ...words]);
    expect(JSON.parse(said)).toEqual(words);
    expect(existsSync(join(folder, "pwned"))).toBe(false);
  });

  test("a run that was cancelled ends its heartbeats and reports nothing", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    await run(["start"]);
    const pid = await heartbeatsPid();
    expect((await run(["finish"], { HEADROOM_RESULT: "cancelled" })).code).toBe(0);
    await ended(pid);
    expect(signals(receiver)).toEqual(["claim"]);
  });
});
