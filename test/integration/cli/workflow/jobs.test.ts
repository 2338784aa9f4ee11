/** `headroom jobs …` against a real database, as the operators' role: jobs from their confirmation to their end. */
import { describe, expect, test } from "vitest";
import { callbackSecret, secretKey, startProvisioning, type Job } from "../../provisioning/harness.ts";
import { headroom, startHeadroom, type Outcome } from "../harness.ts";

const p = await startProvisioning(18);
const env = { DATABASE_URL: p.db.as("headroom_control").url, HEADROOM_SECRET_KEY: secretKey };

function jobs(...parameters: string[]): Promise<Outcome> {
  return headroom(["jobs", ...parameters], { env });
}

async function jobsJson(...parameters: string[]) {
  const outcome = await jobs(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

async function failed(): Promise<Job> {
  const job = await p.confirmed();
  await p.says(job, { signal: "claim" });
  await p.says(job, { signal: "heartbeat", step: "Apply", progress: 40 });
  await p.says(job, { signal: "failed", error: "quota exceeded\u200b", failed_step: "Apply" });
  return job;
}

describe("list", () => {
  test("shows the state of jobs, and what to do about the one that waits for a person", async () => {
    const job = await failed();
    const under = await p.confirmed();
    const plain = await jobs("list", "--open");
    expect(plain).toMatchObject({ status: 0, err: "" });
    expect(plain.out).toMatch(
      new RegExp(String.raw`^${job.request_id} +failed +\d+ s +1 of 3 +Apply, 40 % +under_way`, "m"),
    );
    expect(plain.out).toMatch(new RegExp(`^${under.request_id} +queued`, "m"));
    expect(plain.out).toContain("Next: headroom jobs retry ");
    const { answer } = await jobsJson("list", "--state", "queued", "--workspace", "acme", "--limit", "1");
    expect(answer.jobs).toMatchObject([{ id: under.id, requestId: under.request_id, state: "queued" }]);
  });

  test("says so when nothing matches, and when the workspace does not exist", async () => {
    expect((await jobs("list", "--workspace", "globex")).out).toBe("No jobs match.\n");
    expect(await jobs("list", "--workspace", "nowhere")).toMatchObject({ status: 1, out: "" });
    expect(await jobs("list", "--open", "--state", "failed")).toMatchObject({ status: 2 });
  });
});

describe("show", () => {
  test("has the facts, the runs, the history and the next command; by either id", async () => {
    const job = await failed();
    const plain = await jobs("show", job.request_id);
    expect(plain).toMatchObject({ status: 0, err: "" });
    expect(plain.out).toMatch(/^state +failed since .*\nmeans +waiting for somebody to try again$/m);
    expect(plain.out).toMatch(/^provision 1 +failed +Apply, 40 % +reported +Apply: quota exceeded/m);
    expect(plain.out).toMatch(/^cleanup 1 +dispatched/m);
    expect(plain.out).toMatch(/^ *4 .* FAILED +job:/m);
    expect(plain.out).toContain(`Next: headroom jobs retry ${job.request_id} --as <member> --reason "…"`);
    const { answer } = await jobsJson("show", job.id.toUpperCase());
    expect(answer).toMatchObject({ id: job.id, requestId: job.request_id, runs: [{ failedStep: "Apply" }, {}] });
  });

  test("says in words what holds a job, and that a cleanup failed", async () => {
    const job = await failed();
    await jobs("retry", job.request_id, "--as", "rita", "--reason", "again");
    expect((await jobs("show", job.id)).out).toMatch(
      /^held by +The next attempt begins when the cleanup after the last one is done\.$/m,
    );
    await p.superuser.query("update provisioning.jobs set cleanup = 'failed' where id = $1", [job.id]);
    expect((await jobs("show", job.id)).out).toContain("The cleanup failed: something may be left running.");
    await p.superuser.query("update provisioning.jobs set cleanup = 'under_way' where id = $1", [job.id]);
  });

  test.each([
    ["CR-1999-000001", 1, "There is no such job"],
    ["job 7", 2, "CR-2026-000042"],
  ])("%s is refused", async (id, status, words) => {
    const outcome = await jobs("show", id);
    expect(outcome).toMatchObject({ status, out: "" });
    expect(outcome.err).toContain(words);
  });
});

function show(id: string, ...options: string[]): Promise<Outcome> {
  return headroom(["request", "show", id, ...options], { env });
}

describe("request show", () => {
  test("has the job, its messages and the next command", async () => {
    const job = await failed();
    const plain = await show(job.request_id);
    expect(plain).toMatchObject({ status: 0, err: "" });
    expect(plain.out).toContain("\n\nIts provisioning job is waiting for somebody to try again: attempt 1 of 3.\n");
    expect(plain.out).toContain(`  headroom jobs retry ${job.request_id} --as <member>`);
    expect(plain.out).toMatch(/^job +\S+Z +job:.* Provisioning has begun: attempt 1 of 3\.$/m);
    expect(plain.out).toMatch(/^job .* Attempt 1 of 3 failed\. .* Apply: quota exceeded/m);
    const answer = JSON.parse((await show(job.request_id, "--json")).out);
    expect(answer.jobs).toMatchObject([{ id: job.id, state: "failed", runs: [{ failedStep: "Apply" }, {}] }]);
    expect(answer.notices[0]).toMatchObject({
      kind: "job",
      said: "Provisioning has begun: attempt 1 of 3.",
      body: null,
    });
  });

  test("has the step of a running job", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    await p.says(job, { signal: "heartbeat", step: "Apply", progress: 40 });
    expect((await show(job.request_id)).out).toContain(
      "Its provisioning job is being provisioned: attempt 1 of 3; Apply, 40 %.",
    );
  });
});

describe("logs", () => {
  test("shows what each run did and reported, in order", async () => {
    const job = await failed();
    const lines = (await jobs("logs", job.request_id)).out.split("\n").map((line) => line.replace(/^\S+Z {2}/, ""));
    expect(lines).toEqual([
      "job           created",
      "provision 1   dispatched",
      expect.stringMatching(/^provision 1 {3}claimed by run \d+$/),
      "provision 1   Apply, 40 %",
      "provision 1   failed at Apply: quota exceeded\u200b",
      "cleanup 1     dispatched",
      "",
      `${job.request_id} is waiting for somebody to try again.`,
      `Next: headroom jobs retry ${job.request_id} --as <member> --reason "…"   (or fail, complete)`,
      "",
    ]);
    const json = (await jobs("logs", job.id, "--json")).out.trim().split("\n");
    expect(json.map((line) => JSON.parse(line).what)).toEqual([
      "created",
      "dispatched",
      "claimed",
      "step",
      "failed",
      "dispatched",
    ]);
  });

  test("follow a job until it has ended", async () => {
    const job = await p.confirmed();
    const following = startHeadroom(["jobs", "logs", "--follow", job.request_id], { env });
    await following.line((line) => line.endsWith("dispatched"));
    await p.says(job, { signal: "claim", step: "Plan" });
    await following.line((line) => line.endsWith("Plan"));
    await p.says(job, { signal: "succeeded" });
    await following.line((line) => line.endsWith("succeeded"));
    await following.line((line) => line === `${job.request_id} is running.`);
    expect(following.lines.filter((line) => line.endsWith("Plan"))).toHaveLength(1);
  });

  test("say for whom a job waits, and end with Ctrl-C", async () => {
    const job = await failed();
    const following = startHeadroom(["jobs", "logs", "-f", job.request_id, "--json"], { env });
    await following.line((line) => line.includes('"dispatched"') && line.includes("cleanup"));
    const outcome = await following.end("SIGINT");
    expect(outcome.status).toBe(0);
    expect(following.errors.join("\n")).toContain(`headroom jobs retry ${job.request_id}`);
    for (const line of following.lines) expect(JSON.parse(line)).toHaveProperty("at");
  });
});

describe("retry, fail and complete", () => {
  test("another attempt is requested once, with a reason and on the version that was seen", async () => {
    const job = await failed();
    const { answer: seen } = await jobsJson("show", job.id);
    const stale = await jobsJson(
      "retry",
      job.id,
      "--as",
      "otto",
      "--reason",
      "x",
      "--if-version",
      String(seen.version - 1),
    );
    expect(stale).toMatchObject({ status: 1, answer: { error: { code: "stale_version" } } });
    const plain = await jobs(
      "retry",
      job.id,
      "--as",
      "otto",
      "--reason",
      "quota raised",
      "--if-version",
      String(seen.version),
    );
    expect(plain).toMatchObject({ status: 0, err: "" });
    expect(plain.out).toContain(`${job.request_id}: another attempt was asked for. The job is waiting for its turn.`);
    expect(plain.out).toContain("The next attempt begins when the cleanup");
    expect(plain.out).toContain(`Next: headroom jobs logs --follow ${job.request_id}`);
    const { answer } = await jobsJson("retry", job.id, "--as", "otto", "--reason", "quota raised");
    expect(answer.history.at(-1)).toMatchObject({
      event: "RETRIED",
      reason: "quota raised",
      actorId: "otto",
      via: "cli:login_headroom_control",
    });
  });

  test("an outcome is recorded by an operator only", async () => {
    const job = await p.confirmed();
    const other = await p.confirmed();
    const refused = await jobsJson("complete", job.id, "--as", "rita", "--reason", "bought");
    expect(refused).toMatchObject({ status: 1, answer: { error: { code: "not_allowed" } } });
    const completed = await jobs("complete", job.id, "--as", "otto", "--reason", "bought elsewhere");
    expect(completed.out).toContain(
      `${job.request_id}: it is recorded that the capacity is there. The job is running.`,
    );
    expect(completed.out).toContain("What the last attempt made is being cleaned up.");
    const { answer } = await jobsJson("fail", other.id, "--as", "otto", "--reason", "not worth it");
    expect(answer).toMatchObject({ state: "given_up", status: "failed" });
    expect((await p.row(other.request_id)).state).toBe("FAILED");
  });

  test.each([
    [["--reason", "x"], "HEADROOM_MEMBER"],
    [["--as", "otto"], "needs a reason"],
    [["--as", "otto", "--reason", " "], "1 to 2000 characters"],
  ])("retry %j is a mistake in the call", async (parameters, words) => {
    const outcome = await jobs("retry", "CR-2026-000001", ...parameters);
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain(words);
  });
});

test("verify checks jobs too", async () => {
  const job = await p.confirmed();
  const clean = await headroom(["verify", "--workspace", "acme"], { env });
  expect(clean.out).toMatch(/^Checked [1-9]\d* provisioning jobs and \d+ payments\.$/m);
  expect(clean.status).toBe(0);
  await p.superuser.query("update provisioning.jobs set state = 'running' where id = $1", [job.id]);
  const found = await headroom(["verify", "--json"], { env });
  expect(found.status).toBe(1);
  expect(JSON.parse(found.out).findings).toContainEqual(
    expect.objectContaining({ invariant: "I7", code: "job_differs_from_log", subject: job.request_id }),
  );
  await p.superuser.query("update provisioning.jobs set state = 'queued' where id = $1", [job.id]);
});

describe("connect and secret", () => {
  test("without a connection it says how to make one; connecting makes a secret and says where to put it", async () => {
    expect((await jobs("connect", "--workspace", "globex")).out).toContain(
      "Next: headroom jobs connect --workspace globex --repo <owner/name>",
    );
    const made = await jobs("connect", "--workspace", "globex", "--repo", "https://github.com/globex/infra.git");
    expect(made).toMatchObject({ status: 0, err: "" });
    expect(made.out).toMatch(/^repository +globex\/infra at main$/m);
    expect(made.out).toMatch(/^ {2}[0-9a-f]{64}$/m);
    expect(made.out).toContain("gh secret set HEADROOM_CALLBACK_SECRET --repo globex/infra");
    expect(made.out).toContain("headroom policy settings --workspace globex --public-url");
    const address = await jobs("connect", "--workspace", "globex", "--callback-url", "https://globex.example/hook");
    expect(address.out).toContain(
      "gh variable set HEADROOM_CALLBACK_URL --repo globex/infra --body https://globex.example/hook",
    );
    const limits =
      "--stale-minutes 5 --limit-minutes 30 --most-attempts 5 --most-cleanups 2 --retry-sla-hours 4 --give-up-hours 8";
    const files = "--ref v2 --workflow p.yml --cleanup-workflow c.yml --callback-url https://globex.example/hook";
    const changed = await jobsJson("connect", "--workspace", "globex", ...`${files} ${limits}`.split(" "));
    expect(changed.answer).toEqual({
      connected: {
        workspaceId: "globex",
        owner: "globex",
        repo: "infra",
        ref: "v2",
        provisionWorkflow: "p.yml",
        cleanupWorkflow: "c.yml",
        callbackAddress: "https://globex.example/hook",
        staleMinutes: 5,
        limitMinutes: 30,
        mostAttempts: 5,
        mostCleanups: 2,
        retrySlaHours: 4,
        giveUpHours: 8,
        secret: "readable",
      },
    });
    expect((await jobsJson("connect", "--workspace", "globex", "--no-callback-url")).answer).toMatchObject({
      connected: { callbackAddress: null },
    });
  });

  test("without a key to encrypt with, it says what is missing", async () => {
    const { HEADROOM_SECRET_KEY: _, ...keyless } = env;
    const outcome = await headroom(["jobs", "connect", "--repo", "acme/other", "--json"], { env: keyless });
    expect(outcome.status).toBe(1);
    const { error } = JSON.parse(outcome.out);
    expect(error.message).toContain("It is connected, but no secret could be stored");
    expect(error.hint).toContain("headroom jobs secret --rotate --workspace default");
  });

  test("a secret is rotated, and the previous one is valid until it is dropped", async () => {
    const job = await p.confirmed();
    const { answer } = await jobsJson("secret", "--rotate", "--workspace", "acme");
    expect(await p.says(job, { signal: "claim" })).toMatchObject({ go_on: true });
    expect((await jobs("secret", "--drop-previous", "--workspace", "acme")).out).toContain("Only the present");
    await expect(p.says(job, { signal: "heartbeat" })).rejects.toThrow("signature");
    expect(await p.says(job, { signal: "heartbeat" }, { secret: answer.secret })).toMatchObject({ go_on: true });
    await p.superuser.query(
      "select set_config('headroom.secret_key', $1, false), provisioning.put_secret('acme', $2)",
      [secretKey, callbackSecret],
    );
  });

  test.each([
    [["secret"], 2, "--rotate or --drop-previous"],
    [["secret", "--rotate", "--drop-previous"], 2, "cannot be used with"],
    [["secret", "--rotate", "--workspace", "nowhere"], 1, "no such workspace"],
    [["connect", "--workspace", "nowhere"], 1, "no workspace"],
    [["connect", "--repo", "infrastructure"], 2, "acme/infrastructure"],
    [["connect", "--workspace", "acme", "--limit-minutes", "5"], 1, "limit_minutes: from stale_minutes"],
    [["connect", "--workspace", "acme", "--callback-url", "ftp://acme"], 1, "callback_url: an address"],
  ])("%j is refused with an explanation", async (parameters, status, words) => {
    const outcome = await jobs(...parameters);
    expect(outcome).toMatchObject({ status, out: "" });
    expect(outcome.err).toContain(words);
  });
});

describe("cleaned", () => {
  test("records that an operator cleaned up where the cleanup failed, and nothing else", async () => {
    const job = await failed();
    const told = await jobs("cleaned", job.request_id, "--as", "otto", "--reason", "gone");
    expect(told).toMatchObject({ status: 1 });
    for (const attempt of [1, 2, 3]) {
      const run_id = 600_000 + Number(job.request_id.slice(-6)) * 10 + attempt;
      await p.says(job, { signal: "failed", task: "cleanup", attempt, run_id });
    }
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
    expect((await jobs("show", job.id)).out).toContain(`Next: headroom jobs cleaned ${job.request_id} `);
    const { answer } = await jobsJson("cleaned", job.request_id, "--as", "otto", "--reason", "deleted by hand");
    expect(answer).toMatchObject({ state: "cancelled", cleanup: "done" });
  });
});
