import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { refusal, terms, type Reply } from "./callback-receiver.ts";
import { begin, ended, script, signals } from "./workflow-stage.ts";

/** The server's answer when the request never reached the callback. */
const problem = (status: number, code: string, title: string): object => ({
  type: `urn:headroom:problem:${code}`,
  title,
  status,
  code,
});

describe("a Headroom that does not answer correctly", () => {
  const failures = [
    { status: 503 },
    "cut",
    { status: 200, body: "<html>" },
    { status: 502, body: { title: "Bad" } },
  ] as const;

  test("is called again, each time with a new id and a new signature", async () => {
    const { receiver, run } = await begin();
    receiver.plan("claim", ...failures);
    expect((await run(["start"])).code).toBe(0);
    expect(signals(receiver)).toEqual(Array.from({ length: 5 }, () => "claim"));
    expect(new Set(receiver.heard.map(({ id }) => id)).size).toBe(5);
    expect(receiver.refused).toEqual([]);
  });

  test("each try has its own time", async () => {
    const { receiver, run } = await begin({ HEADROOM_RETRY_MS: "1500" });
    receiver.plan("claim", { status: 503 });
    await run(["start"]);
    const [first, second] = receiver.heard.map(({ headers }) => Number(headers["x-headroom-timestamp"]));
    expect(second).toBeGreaterThan(first as number);
  });

  test("during the whole claim makes the run fail; the result still says so", async () => {
    const { receiver, run } = await begin();
    receiver.plan("claim", ...Array.from({ length: 1000 }, () => "cut" as const));
    const { code, said } = await run(["start"]);
    expect(code).toBe(1);
    expect(said).toMatch(/did not take the claim in \d+ tries: connection_lost/);
    expect(receiver.heard.length).toBeGreaterThan(6);
    // Headroom may have received it: nobody should have to notice by its silence that the run has ended.
    receiver.plan("failed", { status: 200, body: { go_on: false, outcome: "accepted" } });
    expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(0);
    expect(receiver.heard.at(-1)?.error).toContain("did not take the claim");
  });

  test("at a step lets the work continue", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    receiver.plan("heartbeat", ...Array.from({ length: 1000 }, () => ({ status: 500 })));
    const { code, said } = await run(["step", "Create"]);
    expect(code).toBe(0);
    expect(said).toContain("the work goes on");
    expect((await run(["finish"], { HEADROOM_RESULT: "success" })).code).toBe(0);
    expect(receiver.heard.at(-1)?.signal).toBe("succeeded");
  });

  test("at a step is called for a short time only, which the work loses", async () => {
    const { receiver, run } = await begin({ HEADROOM_RETRY_MS: "20" });
    await run(["start"]);
    receiver.plan(
      "heartbeat",
      ...Array.from({ length: 1000 }, () => ({ status: 429, headers: { "retry-after": "3600" } })),
    );
    const begun = Date.now();
    expect((await run(["step", "Create"])).code).toBe(0);
    expect(Date.now() - begun).toBeLessThan(10_000);
  });

  test("at a result is called for longer, and the run ends as it would", async () => {
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

  test("that asks for a pause gets it", async () => {
    const { receiver, run } = await begin({ HEADROOM_RETRY_MS: "20" });
    receiver.plan("claim", { status: 429, headers: { "retry-after": "1" } });
    const begun = Date.now();
    expect((await run(["start"])).code).toBe(0);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(1_000);
  });

  const evil = "no\n::set-env name=PATH::/evil";
  test.each<[string, Reply]>([
    ["the answer to a callback", refusal(404, "not_found", evil)],
    ["a problem", { status: 401, body: problem(401, "bad_signature", evil) }],
    ["an error of PostgREST", { status: 401, body: { code: "PT401", details: "bad_signature", message: evil } }],
    ["a problem with another status, from a proxy", { status: 502, body: problem(401, "bad_signature", evil) }],
  ])(
    "a refusal of Headroom's, as %s, is printed, and not tried again; nothing is reported then",
    async (_form, reply) => {
      const { receiver, run } = await begin();
      receiver.plan("claim", reply);
      const { code, said } = await run(["start"]);
      expect(code).toBe(1);
      expect(said).toMatch(/^headroom: Headroom refuses the claim: HTTP \d+ no \| ::set-env name=PATH::\/evil\n$/);
      expect((await run(["finish"], { HEADROOM_RESULT: "failure" })).code).toBe(0);
      expect(receiver.heard).toHaveLength(1);
    },
  );

  test.each<[string, Reply]>([
    ["a proxy's 401", { status: 401, body: { message: "Who are you?" } }],
    ["a proxy's 404", { status: 404, body: "<h1>404</h1>" }],
    ["a redirect", { status: 302, headers: { location: "https://mallory.example/" } }],
    ["a 200 with a page", { status: 200, body: "<h1>Please wait</h1>" }],
    ["another application's 200", { status: 200, body: { go_on: false } }],
    ["what goes on without an order", { status: 200, body: { go_on: true, outcome: "accepted" } }],
    ["that it was received before, caused by a proxy", refusal(409, "already_used", "twice")],
    ["a temporary code of Headroom's", { status: 503, body: problem(503, "unavailable", "later") }],
  ])("%s is not an answer, and the claim is repeated", async (_what, reply) => {
    const { receiver, run } = await begin();
    receiver.plan("claim", reply);
    expect((await run(["start"])).code).toBe(0);
    expect(signals(receiver)).toEqual(["claim", "claim"]);
  });

  test("a heartbeat refused because another run has the job ends the step, and the heartbeats in the background", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.1 };
    receiver.plan("heartbeat", refusal(404, "not_found", "There is no such job."));
    await run(["start"]);
    await ended(await heartbeatsPid());
    expect((await run(["step", "Create"])).code).toBe(1);
    expect((await run(["finish"], { HEADROOM_RESULT: "success" })).code).toBe(1);
    expect(signals(receiver)).toEqual(["claim", "heartbeat"]);
  });

  test("a secret that is no longer valid ends no work, and does not turn success into failure", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    receiver.plan("heartbeat", refusal(401, "bad_signature", "The signature of the callback is wrong."));
    expect((await run(["step", "Create"])).code).toBe(0);
    receiver.plan("succeeded", refusal(401, "bad_signature", "The signature of the callback is wrong."));
    const { code, said } = await run(["finish"], { HEADROOM_RESULT: "success" });
    expect(code).toBe(0);
    expect(said).toContain("Headroom asks GitHub how this run ended");
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

  test("heartbeats end automatically when the runner's folder is gone", async () => {
    const { receiver, run, folder, heartbeatsPid } = await begin();
    await run(["start"]);
    const pid = await heartbeatsPid();
    await rm(folder, { recursive: true });
    await ended(pid);
    expect(signals(receiver)).toEqual(["claim"]);
  });

  test("heartbeats end automatically at the job's limit", async () => {
    const { receiver, run, heartbeatsPid } = await begin();
    receiver.job = { ...terms, heartbeat_seconds: 0.1, limit_minutes: 0.02 };
    await run(["start"]);
    await ended(await heartbeatsPid());
  });

  test("processes that a command leaves running do not hold up its step", async () => {
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
