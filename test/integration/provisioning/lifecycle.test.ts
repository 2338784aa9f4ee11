/**
 * The life of a job: from the customer's confirmation to running capacity, or through failures to a failed request, with each step's calls
 * to GitHub and messages to people.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startProvisioning } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("a job on PostgreSQL %i", async (version) => {
  const p = await startProvisioning(version);

  test("is made and dispatched in the transaction that confirms", async () => {
    const job = await p.confirmed();
    expect(job).toMatchObject({ state: "queued", status: "queued", attempts: 1, version: 2 });
    const [dispatch, ...others] = await p.calls(job);
    expect(others).toEqual([]);
    expect(dispatch).toMatchObject({
      key: `job:${job.id}`,
      instruction: `${job.id}/1`,
      what: "dispatch",
      payload: {
        owner: "acme",
        repo: "infrastructure",
        workflow: "provision.yml",
        ref: "main",
        job_id: job.id,
        run_mark: `${job.id}/1`,
        inputs: {
          attempt: "1",
          task: "provision",
          workspace: "acme",
          callback_url: "https://capacity.acme.example/webhooks/provisioning",
        },
      },
    });
    expect(JSON.stringify(dispatch?.payload)).not.toMatch(/Initech|secret/);
  });

  test("runs, and completes its request", async () => {
    const job = await p.confirmed();
    const claim = await p.says(job, { signal: "claim" });
    expect(claim).toMatchObject({
      go_on: true,
      outcome: "accepted",
      job: { request_id: job.request_id, size: "32XL", quantity: 4, region: "us-east-1", attempt: 1 },
    });
    expect(await p.job(job.request_id)).toMatchObject({ state: "provisioning" });
    expect(await p.says(job, { signal: "heartbeat", step: "Apply", progress: 40 })).toMatchObject({ go_on: true });
    expect(await p.says(job, { signal: "succeeded" })).toMatchObject({ go_on: false, outcome: "accepted" });
    expect(await p.job(job.request_id)).toMatchObject({ state: "running", status: "running", cleanup: "none" });
    const request = await p.row(job.request_id);
    expect(request.state).toBe("COMPLETED");
    expect((await p.events(job.request_id)).at(-1)).toMatchObject({
      event_type: "PROVISIONING_COMPLETE",
      actor_type: "system",
      actor_id: `job:${job.id}`,
      via: "callback",
    });
    expect(await p.told(job)).toEqual(["Provisioning has begun: attempt 1 of 3."]);
    expect(await p.findings()).toEqual([]);
    expect(await p.unmatched()).toEqual([]);
  });

  test("fails, is cleaned up, is tried again, and fails permanently after its third attempt", async () => {
    const job = await p.confirmed();
    for (const attempt of [1, 2, 3]) {
      const run = { attempt, run_id: 100 * attempt + version * 10_000 };
      await p.says(job, { signal: "claim", ...run });
      await p.says(job, { signal: "failed", ...run, failed_step: "Apply", error: "quota exceeded" });
      expect((await p.calls(job)).at(-1)).toMatchObject({
        instruction: `${job.id}/cleanup-${attempt}`,
        what: "dispatch",
      });
      if (attempt === 3) break;
      expect(await p.job(job.request_id)).toMatchObject({ state: "failed", status: "failed", cleanup: "under_way" });
      await p.superuser.query("delete from capacity.acts");
      await p.superuser.query("select public.retry_provisioning_job($1, 'quota was raised', 'rita')", [job.id]);
      expect(await rowsOf(p.superuser, "select split_part(account, ' ', 1) as who from capacity.acts")).toEqual([
        { who: "rita" },
      ]);
      // It waits for the cleanup.
      expect(await p.job(job.request_id)).toMatchObject({ state: "waiting", status: "queued", attempts: attempt });
      const cleanup = { task: "cleanup", attempt, run_id: run.run_id + 1 } as const;
      await p.says(job, { signal: "claim", ...cleanup });
      await p.says(job, { signal: "succeeded", ...cleanup });
      expect(await p.job(job.request_id)).toMatchObject({ state: "queued", attempts: attempt + 1, cleanup: "done" });
    }
    expect(await p.job(job.request_id)).toMatchObject({ state: "given_up", status: "failed", attempts: 3 });
    expect((await p.row(job.request_id)).state).toBe("FAILED");
    expect(await p.lastShown(job.request_id)).toMatchObject({
      payload: { job_id: job.id, error: "Apply: quota exceeded", reason: "The last of 3 attempts failed." },
    });
    expect(await p.told(job)).toEqual([
      "Provisioning has begun: attempt 1 of 3.",
      `Attempt 1 of 3 failed. Try again with the button, or with: headroom jobs retry ${job.request_id}`,
      "Rita asked for another attempt: 2 of 3. The next attempt begins when the cleanup after the last one is done.",
      "The cleanup after attempt 1 is done.",
      "Provisioning has begun: attempt 2 of 3.",
      `Attempt 2 of 3 failed. Try again with the button, or with: headroom jobs retry ${job.request_id}`,
      "Rita asked for another attempt: 3 of 3. The next attempt begins when the cleanup after the last one is done.",
      "The cleanup after attempt 2 is done.",
      "Provisioning has begun: attempt 3 of 3.",
      "Attempt 3 of 3 failed.",
    ]);
    expect(await p.findings()).toEqual([]);
  });

  test("that falls silent is stopped and cleaned up, and its run's reports are ignored", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    await p.age(job, 11);
    await p.sweep();
    expect(await p.job(job.request_id)).toMatchObject({ state: "failed", cleanup: "under_way" });
    expect((await p.calls(job)).map(({ instruction, what }) => `${what} ${instruction.slice(37)}`)).toEqual([
      "dispatch 1",
      "stop 1",
      "dispatch cleanup-1",
    ]);
    expect(await p.runs(job)).toEqual(["provision 1 stopped stale", "cleanup 1 dispatched"]);
    expect(await p.says(job, { signal: "succeeded" })).toMatchObject({ go_on: false, outcome: "stop" });
    expect(await p.job(job.request_id)).toMatchObject({ state: "failed" });
    expect(await p.findings()).toEqual([]);
  });

  test("that takes too long is stopped although it is alive", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    await p.age(job, 16);
    await p.says(job, { signal: "heartbeat" });
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 stopped time_limit", "cleanup 1 dispatched"]);
  });

  test("is stopped and cleaned up when its request is cancelled", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
    expect(await p.job(job.request_id)).toMatchObject({ state: "cancelled", status: "failed", cleanup: "under_way" });
    expect(await p.runs(job)).toEqual(["provision 1 stopped cancelled", "cleanup 1 dispatched"]);
    expect((await p.told(job)).at(-1)).toBe("The run is being stopped, and what it has made so far is cleaned up.");
    const cleanup = { task: "cleanup", attempt: 1, run_id: 55 + version } as const;
    await p.says(job, { signal: "succeeded", ...cleanup });
    expect((await p.told(job)).at(-1)).toBe("The cleanup after attempt 1 is done.");
    expect(await p.findings()).toEqual([]);
  });

  test("waits for the customer's previous one, and begins when that has ended", async () => {
    const customer = { name: "Initrode", org_id: `initrode-${version}` };
    const first = await p.confirmed(customer);
    const second = await p.confirmed(customer);
    const third = await p.confirmed(customer);
    expect([first.state, second.state, third.state]).toEqual(["queued", "waiting", "waiting"]);
    expect(await p.calls(second)).toEqual([]);
    expect(await p.told(second)).toEqual([
      "Another request of this customer is being provisioned; this one begins when that one has ended.",
    ]);
    await p.says(first, { signal: "succeeded" });
    expect(await p.job(second.request_id)).toMatchObject({ state: "queued" });
    expect(await p.job(third.request_id)).toMatchObject({ state: "waiting" });
    await p.says(second, { signal: "failed" });
    expect(await p.job(third.request_id)).toMatchObject({ state: "waiting" });
    await p.says(second, { signal: "succeeded", task: "cleanup", run_id: 77_000 + version });
    // A failed job that waits for a person does not block the next one, once it is cleaned up.
    expect(await p.job(second.request_id)).toMatchObject({ state: "failed" });
    expect(await p.job(third.request_id)).toMatchObject({ state: "queued" });
    const { count } = await oneOf<{ count: number }>(
      p.superuser,
      "select count(*) from provisioning.jobs where customer_key is not null and state in ('queued', 'provisioning')",
    );
    expect(count).toBe(1);
  });
});
