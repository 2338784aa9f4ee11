import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { terms } from "./callback-receiver.ts";
import { begin, ended, script, signals } from "./workflow-stage.ts";

describe("a Headroom that does not answer well", () => {
  const failures = [
    { status: 503 },
    "cut",
    { status: 200, body: "<html>" },
    { status: 502, body: { title: "Bad" } },
  ] as const;

  test("is asked again, each time with a new id and a signature of its own", async () => {
    const { receiver, run } = await begin();
    receiver.plan("claim", ...failures);
    expect((await run(["start"])).code).toBe(0);
    expect(signals(receiver)).toEqual(Array.from({ length: 5 }, () => "claim"));
    expect(new Set(receiver.heard.map(({ id }) => id)).size).toBe(5);
    expect(receiver.refused).toEqual([]);
  });

  test("the time of each try is its own", async () => {
    const { receiver, run } = await begin({ HEADROOM_RETRY_MS: "1500" });
    receiver.plan("claim", { status: 503 });
    await run(["start"]);
    const [first, second] = receiver.heard.map(({ headers }) => Number(headers["x-headroom-timestamp"]));
    expect(second).toBeGreaterThan(first as number);
  });

  test("at a claim six times makes the run fail; the result still says so", async () => {
    const { receiver, run } = await begin();
    receiver.plan("claim", ...Array.from({ length: 6 }, () => "cut" as const));
    const { code, said } = await run(["start"]);
    expect(code).toBe(1);
    expect(said).toContain("did not take the claim in 6 tries");
    expect(receiver.heard).toHaveLength(6);
    // Headroom may have heard it: that the run is over must not wait until somebody notices its silence.
    receiver.plan("failed", { status: 200, body: { go_on: false, outcome: "accepted" } });
    expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(0);
    expect(receiver.heard.at(-1)?.error).toContain("did not take the claim");
  });

  test("at a step lets the work go on", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    receiver.plan("heartbeat", ...Array.from({ length: 6 }, () => ({ status: 500 })));
    const { code, said } = await run(["step", "Create"]);
    expect(code).toBe(0);
    expect(said).toContain("the work goes on");
    expect((await run(["finish"], { HEADROOM_RESULT: "success" })).code).toBe(0);
    expect(receiver.heard.at(-1)?.signal).toBe("succeeded");
  });

  test("at a result is asked for longer, and the run ends as it would", async () => {
    const { receiver, run } = await begin({ HEADROOM_RETRY_MS: "20" });
    await run(["start"]);
    receiver.plan("succeeded", ...Array.from({ length: 1000 }, () => "cut" as const));
    const { code, said } = await run(["finish"], { HEADROOM_RESULT: "success" });
    expect(code).toBe(0);
    expect(said).toMatch(/did not take the succeeded in \d+ tries/);
    expect(receiver.heard.filter(({ signal }) => signal === "succeeded").length).toBeGreaterThan(6);
    expect(receiver.refused).toEqual([]);
  });

  test("in the background does not end the heartbeats", async () => {
    const { receiver, run } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.1 };
    receiver.plan("heartbeat", ...Array.from({ length: 8 }, () => "cut" as const));
    await run(["start"]);
    await receiver.heardAtLeast(10, "heartbeat");
    await run(["finish"], { HEADROOM_RESULT: "cancelled" });
  });

  test("and asks for quiet gets it", async () => {
    const { receiver, run } = await begin();
    receiver.plan("claim", { status: 429, headers: { "retry-after": "1" } });
    const begun = Date.now();
    expect((await run(["start"])).code).toBe(0);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(1_000);
  });

  test.each([401, 404, 302])("%i is said, and not asked again; nothing is reported then", async (status) => {
    const { receiver, run } = await begin();
    receiver.plan("claim", { status, body: { message: "no\n::set-env name=PATH::/evil" } });
    expect(await run(["start"])).toEqual({
      code: 1,
      said: `headroom: Headroom refuses the claim: HTTP ${status} no | ::set-env name=PATH::/evil\n`,
    });
    expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(0);
    expect(receiver.heard).toHaveLength(1);
  });

  test("a heartbeat that is refused ends the step, and the heartbeats in the background", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.1 };
    receiver.plan("heartbeat", { status: 404, body: { message: "There is no such job." } });
    await run(["start"]);
    await ended(await heartbeatsPid());
    receiver.plan("heartbeat", { status: 404, body: { message: "There is no such job." } });
    expect((await run(["step", "Create"])).code).toBe(1);
  });
});

describe("processes that are killed", () => {
  test("heartbeats that were killed do not keep the result from being reported", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    await run(["start"]);
    const pid = await heartbeatsPid();
    process.kill(pid, "SIGKILL");
    await ended(pid);
    expect((await run(["finish"], { HEADROOM_RESULT: "success" })).code).toBe(0);
    expect(signals(receiver)).toEqual(["claim", "succeeded"]);
  });

  test("heartbeats end by themselves when the runner's folder is gone", async () => {
    const { receiver, run, folder, heartbeatsPid } = await begin();
    await run(["start"]);
    const pid = await heartbeatsPid();
    await rm(folder, { recursive: true });
    await ended(pid);
    expect(signals(receiver)).toEqual(["claim"]);
  });

  test("heartbeats end by themselves at the job's limit", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.1, limit_minutes: 0.02 };
    await run(["start"]);
    await ended(await heartbeatsPid());
  });

  test("what a command leaves running does not hold up its step", async () => {
    const { run } = await begin();
    await run(["start"]);
    const { code, said } = await run(["exec", "--", "sh", "-c", "sleep 4 >/dev/null & echo left; exit 3"]);
    expect({ code, said }).toEqual({ code: 3, said: "left\n" });
    await run(["finish"], { HEADROOM_RESULT: "cancelled" });
  });

  test("a command gets the signals that its step gets", async () => {
    const { env } = await begin().then(async (workflow) => {
      await workflow.run(["start"]);
      return workflow;
    });
    const says =
      "process.once('SIGTERM', () => { console.log('bye'); process.exit(0); }); console.log('here'); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, [script, "exec", "--", process.execPath, "-e", says], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
    expect(said).toBe("bye\n");
    expect(child.exitCode).toBe(0);
  });
});
