/**
 * Callbacks as the world sends them: out of order, repeated, forged, stale, late, from a re-run or from a stranger. Whatever comes, a job
 * only moves forward; a bad callback is answered clearly, recorded, and moves nothing.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Job, type Said } from "./harness.ts";

/** What runs report in order, the answer to each, and the job's final state. */
const sequences: readonly (readonly [title: string, said: readonly (readonly [Said, string])[], state: string])[] = [
  [
    "a claim that comes twice",
    [
      [{ signal: "claim" }, "accepted"],
      [{ signal: "claim" }, "repeated"],
    ],
    "provisioning",
  ],
  [
    "a heartbeat before the claim",
    [
      [{ signal: "heartbeat" }, "accepted"],
      [{ signal: "claim" }, "repeated"],
    ],
    "provisioning",
  ],
  [
    "a result before the claim",
    [
      [{ signal: "succeeded" }, "accepted"],
      [{ signal: "claim" }, "stop"],
    ],
    "running",
  ],
  [
    "a result that comes twice",
    [
      [{ signal: "succeeded" }, "accepted"],
      [{ signal: "succeeded" }, "repeated"],
    ],
    "running",
  ],
  [
    "a failure that comes twice",
    [
      [{ signal: "failed" }, "accepted"],
      [{ signal: "failed" }, "repeated"],
    ],
    "failed",
  ],
  [
    "a failure after success",
    [
      [{ signal: "succeeded" }, "accepted"],
      [{ signal: "failed" }, "ignored"],
    ],
    "running",
  ],
  [
    "success after a failure",
    [
      [{ signal: "failed" }, "accepted"],
      [{ signal: "succeeded" }, "ignored"],
    ],
    "failed",
  ],
  [
    "a heartbeat after the end",
    [
      [{ signal: "succeeded" }, "accepted"],
      [{ signal: "heartbeat" }, "stop"],
    ],
    "running",
  ],
  [
    "another run",
    [
      [{ signal: "claim" }, "accepted"],
      [{ signal: "claim", run_id: 1 }, "stop"],
    ],
    "provisioning",
  ],
  [
    "another run's success",
    [
      [{ signal: "claim" }, "accepted"],
      [{ signal: "succeeded", run_id: 2 }, "stop"],
    ],
    "provisioning",
  ],
  [
    "a re-run",
    [
      [{ signal: "claim" }, "accepted"],
      [{ signal: "claim", run_attempt: 2 }, "stop"],
    ],
    "provisioning",
  ],
  [
    "a re-run's success",
    [
      [{ signal: "claim" }, "accepted"],
      [{ signal: "succeeded", run_attempt: 2 }, "stop"],
    ],
    "provisioning",
  ],
  [
    "a re-run after a failure",
    [
      [{ signal: "failed" }, "accepted"],
      [{ signal: "claim", run_attempt: 2 }, "stop"],
    ],
    "failed",
  ],
];

const wrong: readonly (readonly [title: string, fields: Record<string, unknown>, detail: RegExp])[] = [
  ["an unknown field", { more: 1 }, /^invalid_input: more: no such field/],
  ["no id", { id: undefined }, /^invalid_input: id: /],
  ["an invalid id", { id: "7" }, /^invalid_input: id: /],
  ["a job that is not a UUID", { job_id: "CR-2026-000001" }, /^invalid_input: job_id: /],
  ["another task", { task: "destroy" }, /^invalid_input: task: /],
  ["another signal", { signal: "running" }, /^invalid_input: signal: /],
  ["no attempt", { attempt: 0 }, /^invalid_input: attempt: /],
  ["half an attempt", { attempt: 1.5 }, /^invalid_input: attempt: /],
  ["an attempt as text", { attempt: "1" }, /^invalid_input: attempt: /],
  ["an absurd run", { run_id: 1e30 }, /^invalid_input: run_id: /],
  ["no run", { run_id: null }, /^invalid_input: run_id: /],
  ["no try of the run", { run_attempt: undefined }, /^invalid_input: run_attempt: /],
  ["a step of 201 characters", { signal: "heartbeat", step: "x".repeat(201) }, /^invalid_input: step: /],
  ["a step that is no text", { signal: "heartbeat", step: { a: 1 } }, /^invalid_input: step: /],
  ["a bell character in a step", { signal: "heartbeat", step: "ding \u0007" }, /^invalid_input: step: no control/],
  ["progress beyond the end", { signal: "heartbeat", progress: 101 }, /^invalid_input: progress: /],
  ["progress that is no number", { signal: "heartbeat", progress: "half" }, /^invalid_input: progress: /],
  ["an error of 4001 characters", { signal: "failed", error: "x".repeat(4001) }, /^invalid_input: error: /],
  ["an error without a failure", { signal: "heartbeat", error: "oh" }, /^invalid_input: error, failed_step: /],
];

describe.each(POSTGRES_VERSIONS)("callbacks on PostgreSQL %i", async (version) => {
  const p = await startProvisioning(version);
  const inProgress = async (): Promise<Job> => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    return job;
  };
  const recorded = async (job: Job) =>
    (
      await rowsOf<{ outcome: string }>(
        p.superuser,
        "select outcome from provisioning.callbacks where job_id = $1 order by received_at",
        [job.id],
      )
    ).map(({ outcome }) => outcome);

  test.each(sequences)("%s", async (_title, said, state) => {
    const job = await p.confirmed();
    const other = 9_000_000_000 + Number(job.request_id.slice(-6)) * 10;
    for (const [words, outcome] of said) {
      const run = words.run_id === undefined ? {} : { run_id: other + words.run_id };
      const heard = await p.says(job, { ...words, ...run });
      expect(heard.outcome).toBe(outcome);
      expect(heard.go_on).toBe(
        (outcome === "accepted" || outcome === "repeated") && /claim|heartbeat/.test(words.signal),
      );
    }
    expect((await p.job(job.request_id)).state).toBe(state);
    expect(await recorded(job)).toEqual(said.map(([, outcome]) => outcome));
    expect(await p.findings()).toEqual([]);
  });

  test.each(wrong)("one with %s is refused, recorded, and moves nothing", async (_title, fields, detail) => {
    const job = await p.confirmed();
    const before = await p.job(job.request_id);
    const heard = await p.says(job, { signal: "claim", ...fields });
    expect(heard).toMatchObject({ status: 400, code: "invalid_input", go_on: false });
    expect(heard.details).toMatch(detail);
    expect(await p.job(job.request_id)).toEqual(before);
    const { refusal } = await oneOf<{ refusal: string }>(
      p.superuser,
      "select refusal from provisioning.callbacks where outcome = 'refused' order by received_at desc limit 1",
    );
    expect(refusal).toMatch(detail);
  });

  test("for a job or an attempt that does not exist, or for another's run: refused and recorded", async () => {
    const [job, other] = [await inProgress(), await inProgress()];
    expect(await p.says({ ...job, id: randomUUID() }, { signal: "claim" })).toMatchObject({
      status: 404,
      code: "not_found",
    });
    expect(await p.says(job, { signal: "claim", attempt: 2 })).toMatchObject({ status: 404, code: "not_found" });
    expect(await p.says(job, { signal: "claim", task: "cleanup" })).toMatchObject({ status: 404, code: "not_found" });
    const { run_id: theirs } = await oneOf<{ run_id: number }>(
      p.superuser,
      "select run_id from provisioning.attempts where job_id = $1",
      [other.id],
    );
    expect(await p.says(job, { signal: "succeeded", run_id: theirs })).toMatchObject({
      status: 409,
      code: "conflict",
    });
    expect((await p.job(job.request_id)).state).toBe("provisioning");
    expect(await recorded(job)).toEqual(["accepted", "refused", "refused", "refused"]);
  });

  test("another workspace's job is as unknown as one that does not exist, even with a valid signature of one's own", async () => {
    const client = await p.db.superuser.connect();
    await client.query(
      "select set_config('headroom.secret_key', 'a key of thirty-two bytes or more for tests', false)",
    );
    const secret = "the secret of Globex, which is another workspace";
    await client.query("select provisioning.put_secret('globex', $1)", [secret]);
    await client.end();
    const job = await inProgress();
    const heard = await p.says(job, { signal: "succeeded", workspace: "globex" }, { secret });
    const none = await p.says({ ...job, id: randomUUID() }, { signal: "succeeded", workspace: "globex" }, { secret });
    expect(heard).toMatchObject({ status: 404, code: "not_found", message: none.message });
    expect(await refusalOf(p.says(job, { signal: "succeeded" }, { secret }))).toMatchObject({ code: "PT401" });
    expect((await p.job(job.request_id)).state).toBe("provisioning");
    expect(await recorded(job)).toEqual(["accepted"]);
  });

  const forged: readonly (readonly [string, Parameters<typeof p.says>[2]])[] = [
    ["under another secret", { secret: "not the secret of the workspace at all" }],
    ["six minutes late", { late: 301 }],
    ["six minutes early", { late: -301 }],
    ["with a signature of nothing", { signature: `v1=${"0".repeat(64)}` }],
    ["with a malformed signature", { signature: "v1=xyz" }],
    ["with an older scheme", { signature: "sha256=00" }],
  ];
  test.each(forged)("signed %s it is refused, and nothing is written", async (_title, options) => {
    const job = await p.confirmed();
    expect(await refusalOf(p.says(job, { signal: "claim" }, options))).toMatchObject({
      code: "PT401",
      detail: "bad_signature",
    });
    expect(await recorded(job)).toEqual([]);
    expect((await p.job(job.request_id)).state).toBe("queued");
  });

  test("only the run that GitHub started for our dispatch has the job, whoever else knows the secret", async () => {
    const job = await p.confirmed();
    await p.dispatched(job, { run_id: 11 });
    for (const signal of ["claim", "heartbeat", "succeeded", "failed"] as const) {
      expect(await p.says(job, { signal, run_id: 12 })).toMatchObject({
        go_on: false,
        outcome: "stop",
        why: "Headroom started another run for the job.",
      });
    }
    expect((await p.job(job.request_id)).state).toBe("queued");
    expect(await p.says(job, { signal: "claim", run_id: 11 })).toMatchObject({ go_on: true });
  });

  test("until GitHub has said which run it started, a run repeats its report, and is looked up by name once", async () => {
    const job = await p.confirmed();
    const early = { status: 429, code: "too_soon", retry_after: 5, go_on: false };
    for (const signal of ["claim", "succeeded"] as const) {
      expect(await p.says(job, { signal, run_id: 21 }, { undispatched: true })).toMatchObject(early);
    }
    expect((await p.calls(job)).map(({ what }) => what)).toEqual(["dispatch", "watch-1"]);
    expect((await p.job(job.request_id)).state).toBe("queued");
    const found = [{ id: 21, attempt: 1, status: "in_progress" }];
    const capture = { stream: "provisioning", rail: "github-actions", key: `watch:${job.id}`, name: "provision-1" };
    const learn = (value: unknown) =>
      rowsOf(p.superuser, "select headroom.run_hooks('outbox.captured', $1)", [
        JSON.stringify([{ ...capture, value }]),
      ]);
    await learn(found);
    expect(await p.says(job, { signal: "claim", run_id: 22 }, { undispatched: true })).toMatchObject({
      outcome: "stop",
    });
    // Settled late, the dispatch's own answer is better than a search by name.
    await learn({ id: 22 });
    expect(await p.says(job, { signal: "claim", run_id: 21 }, { undispatched: true })).toMatchObject({
      outcome: "stop",
    });
    expect(await p.says(job, { signal: "claim", run_id: 22 })).toMatchObject({ go_on: true });
  });

  test("a replay is refused, and so is a body that was changed", async () => {
    const job = await p.confirmed();
    const { body, headers } = await p.signed(job, { signal: "claim" });
    expect(await p.send(body, headers)).toMatchObject({ go_on: true });
    expect(await p.send(body, headers)).toMatchObject({ status: 409, code: "already_used", go_on: false });
    const changed = body.replace('"claim"', '"succeeded"');
    expect(await refusalOf(p.send(changed, headers))).toMatchObject({ code: "PT401" });
    expect((await p.job(job.request_id)).state).toBe("provisioning");
  });

  test("while the secret is replaced, both are valid; once the old one is dropped, it is not", async () => {
    const job = await p.confirmed();
    const client = await p.db.superuser.connect();
    await client.query(
      "select set_config('headroom.secret_key', 'a key of thirty-two bytes or more for tests', false)",
    );
    const fresh = "a fresh secret that runs of Acme sign their callbacks with";
    await client.query("select provisioning.put_secret('acme', $1)", [fresh]);
    expect(await p.says(job, { signal: "claim" })).toMatchObject({ go_on: true });
    expect(await p.says(job, { signal: "heartbeat" }, { secret: fresh })).toMatchObject({ go_on: true });
    await client.query("select provisioning.drop_previous_secret('acme')");
    expect(await refusalOf(p.says(job, { signal: "heartbeat" }))).toMatchObject({ code: "PT401" });
    await client.query(
      "select provisioning.put_secret('acme', 'a secret that runs of Acme sign their callbacks with')",
    );
    await client.query("select provisioning.drop_previous_secret('acme')");
    await client.end();
  });

  test("too large, not JSON, or not an object: refused", async () => {
    const job = await p.confirmed();
    expect(await refusalOf(p.says(job, { signal: "claim" }, { body: "x".repeat(16_385) }))).toMatchObject({
      code: "PT413",
    });
    expect(await refusalOf(p.says(job, { signal: "claim" }, { body: "[]" }))).toMatchObject({ code: "PT400" });
    expect(await refusalOf(p.says(job, { signal: "claim" }, { body: "{" }))).toMatchObject({ code: "PT400" });
  });

  test("without the key to its secrets the installation says so, and the run may try again", async () => {
    const job = await p.confirmed();
    const { body, headers } = await p.signed(job, { signal: "claim" });
    const client = await p.db.as("authenticator").connect();
    await client.query("begin");
    await client.query("select set_config('role', 'anon', true), set_config('request.headers', $1, true)", [
      JSON.stringify(headers),
    ]);
    expect(await refusalOf(client.query("select public.handle_provisioning_callback($1)", [body]))).toMatchObject({
      code: "PT503",
    });
    await client.query("rollback");
    await client.end();
  });

  test("a run that reports endlessly is counted, and its texts are limited", async () => {
    const job = await inProgress();
    await rowsOf(p.superuser, "update provisioning.attempts set heard = 500 where job_id = $1", [job.id]);
    for (let n = 0; n < 3; n += 1) await p.says(job, { signal: "heartbeat", step: `step ${n}` });
    const { body, headers } = await p.signed(job, { signal: "heartbeat" });
    expect(await p.send(body, headers)).toMatchObject({ go_on: true });
    expect(await p.send(body, headers)).toMatchObject({ status: 409, code: "already_used" });
    // What could no longer be replayed is deleted.
    await rowsOf(
      p.superuser,
      `update provisioning.callbacks set received_at = received_at - interval '12 minutes' where job_id = $1`,
      [job.id],
    );
    await rowsOf(
      p.superuser,
      "update provisioning.attempts set claimed_at = claimed_at - interval '12 minutes' where job_id = $1",
      [job.id],
    );
    await rowsOf(
      p.superuser,
      "insert into provisioning.steps (job_id, task, attempt, n, step) select $1, 'provision', 1, n, 'x' from generate_series(10, 200) n",
      [job.id],
    );
    await p.says(job, { signal: "heartbeat", step: "one too many" });
    const kept = await oneOf(
      p.superuser,
      `select (select heard from provisioning.attempts where job_id = $1) as heard,
              (select count(*) from provisioning.callbacks where job_id = $1) as kept,
              (select max(n) from provisioning.steps where job_id = $1) as steps,
              (select step from provisioning.attempts where job_id = $1) as step`,
      [job.id],
    );
    expect(kept).toEqual({ heard: 505, kept: 2, steps: 200, step: "one too many" });
    expect(await p.says(job, { signal: "succeeded" })).toMatchObject({ outcome: "accepted" });
    expect(await recorded(job)).toEqual(["accepted", "accepted", "accepted"]);
    expect(await p.findings()).toEqual([]);
  });

  test("a step cannot look like a line of ours", async () => {
    const job = await inProgress();
    const lookalike = "Plan\n:white_check_mark: *Security review*: waived";
    expect(await p.says(job, { signal: "heartbeat", step: lookalike })).toMatchObject({ status: 400 });
    await p.says(job, { signal: "heartbeat", step: "x` :white_check_mark: *Security review*: waived" });
    expect(await p.rootNow(job.request_id)).toContain("`x' :white_check_mark: *Security review*: waived`");
  });

  test("markup in what a run says is shown harmless in Slack and Linear", async () => {
    const job = await inProgress();
    const nasty = "<!channel> *bold* <https://evil.example|click> `x` [l](http://evil.example) @everyone";
    await p.says(job, { signal: "heartbeat", step: nasty });
    expect(await p.rootNow(job.request_id)).toContain("&lt;!channel&gt;");
    expect(await p.rootNow(job.request_id)).not.toContain("<!channel>");
    await p.says(job, { signal: "failed", failed_step: nasty, error: nasty });
    const effects = await p.effects(job.request_id);
    const saidBy = (name: string): string => JSON.stringify(effects.filter(({ effect }) => effect === name));
    expect(saidBy("slack:reply")).not.toContain("<!channel>");
    expect(saidBy("slack:reply")).not.toContain("<https://evil");
    expect(saidBy("linear:comment")).not.toMatch(/[^\\]\[l/);
  });
});
