/**
 * What happens to jobs because time passes: runs that never began, fell silent or ended without a report, cleanups that fail, and people
 * who do not return to a job that waits for them.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("the sweep of jobs on PostgreSQL %i", async (version) => {
  const p = await startProvisioning(version);

  /** What a relay does when it has delivered a call: captures GitHub's answer, as settling does. */
  async function github(job: Job, name: string, value: unknown): Promise<void> {
    await rowsOf(p.superuser, "select headroom.run_hooks('outbox.captured', $1)", [
      JSON.stringify([{ stream: "provisioning", rail: "github-actions", key: `watch:${job.id}`, name, value }]),
    ]);
  }
  /** The dispatch of the last attempt was delivered that long ago, according to the archive. */
  async function dispatched(job: Job, minutesAgo: number): Promise<void> {
    await rowsOf(
      p.superuser,
      `insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, recorded_at)
       select m.outbox_id, 1, get_byte(uuid_send(m.outbox_id), 7), m.stream_id, 'DISPATCHED', now() - $2 * interval '1 minute'
         from outbox.payloads m join outbox.lanes l on l.lane_id = m.lane_id
        where l.key = 'job:' || $1 and m.idempotency_key = 'dispatch' order by m.seq desc limit 1`,
      [job.id, minutesAgo],
    );
  }
  const claimed = async (): Promise<Job> => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    return job;
  };
  const runOf = async (job: Job): Promise<number> =>
    (
      await oneOf<{ run_id: number }>(
        p.superuser,
        "select run_id from provisioning.attempts where job_id = $1 and task = 'provision' order by number desc limit 1",
        [job.id],
      )
    ).run_id;
  const failed = async (): Promise<Job> => {
    const job = await claimed();
    await p.says(job, { signal: "failed", error: "no" });
    return job;
  };

  test("a dispatch that waits in the outbox is waited for longer than a silent run", async () => {
    const job = await p.confirmed();
    await p.age(job, 600);
    await p.sweep();
    expect((await p.job(job.request_id)).state).toBe("queued");
  });

  test("a run that was requested and never claims the job is given up", async () => {
    const job = await p.confirmed();
    await dispatched(job, 11);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 stopped stale", "cleanup 1 dispatched"]);
  });

  test("a dispatch that GitHub refused fails the attempt, says why, and needs no cleanup", async () => {
    const job = await p.confirmed();
    await rowsOf(
      p.superuser,
      `with row as (select m.outbox_id, m.stream_id, m.lane_id, m.seq from outbox.payloads m join outbox.lanes l on l.lane_id = m.lane_id
                     where l.key = 'job:' || $1), line as (
         insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, error_code, error_message, uncertain)
         select outbox_id, 1, get_byte(uuid_send(outbox_id), 7), stream_id, 'SKIPPED', 'http_404', 'There is no such workflow.', false from row)
       delete from outbox.pending p using row where p.lane_id = row.lane_id and p.seq = row.seq`,
      [job.id],
    );
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 failed not_dispatched"]);
    expect(await p.job(job.request_id)).toMatchObject({ state: "failed", cleanup: "none" });
    expect((await p.told(job)).at(-1)).toMatch(/^Attempt 1 of 3 could not be started\./);
    const { error } = await oneOf<{ error: string }>(
      p.superuser,
      "select error from provisioning.attempts where job_id = $1",
      [job.id],
    );
    expect(error).toBe("http_404: There is no such workflow.");
  });

  test("the sweep asks about a run that is silent for two minutes, once every two minutes", async () => {
    const job = await claimed();
    await p.age(job, 3);
    await p.sweep();
    await p.sweep();
    const watches = (await p.calls(job)).filter(({ what }) => what.startsWith("watch"));
    expect(watches).toMatchObject([
      {
        what: "watch-1",
        key: `watch:${job.id}`,
        payload: { operation: "watch", run_mark: `${job.id}/1`, run_id: await runOf(job) },
      },
    ]);
  });

  test("a run that ended in success without a report completes the job", async () => {
    const job = await claimed();
    const run = {
      id: await runOf(job),
      attempt: 1,
      status: "completed",
      conclusion: "success",
      url: "https://github.example/run",
    };
    await github(job, "provision-1", [run]);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 succeeded run_ended"]);
    expect((await p.row(job.request_id)).state).toBe("COMPLETED");
  });

  const ends: readonly (readonly [string, (id: number) => object])[] = [
    ["failed", (id) => ({ id, attempt: 1, status: "completed", conclusion: "failure" })],
    ["was cancelled at GitHub", (id) => ({ id, attempt: 1, status: "completed", conclusion: "cancelled" })],
    ["was started again and succeeded", (id) => ({ id, attempt: 2, status: "completed", conclusion: "success" })],
  ];
  test.each(ends)("a run that %s without a report fails the attempt", async (_title, run) => {
    const job = await claimed();
    await github(job, "provision-1", [run(await runOf(job))]);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 failed run_ended", "cleanup 1 dispatched"]);
  });

  test("a run that was restarted at GitHub is stopped", async () => {
    const job = await claimed();
    await github(job, "provision-1", [{ id: await runOf(job), attempt: 2, status: "in_progress", conclusion: null }]);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 stopped rerun", "cleanup 1 dispatched"]);
    expect((await p.calls(job)).map(({ what }) => what)).toEqual(["dispatch", "stop", "dispatch"]);
  });

  test("a run that continues, a stranger's run, and a late report about an ended attempt change nothing", async () => {
    const job = await claimed();
    const id = await runOf(job);
    await github(job, "provision-1", { id, url: "https://github.example/run" });
    await github(job, "provision-1", [{ id, attempt: 1, status: "in_progress", conclusion: null }]);
    await github(job, "provision-1", [{ id: id + 77_777, attempt: 1, status: "completed", conclusion: "failure" }]);
    await github(job, "provision-9", [{ id, attempt: 1, status: "completed", conclusion: "failure" }]);
    await p.sweep();
    expect((await p.job(job.request_id)).state).toBe("provisioning");
    await p.says(job, { signal: "succeeded" });
    await github(job, "provision-1", [{ id, attempt: 1, status: "completed", conclusion: "failure" }]);
    await p.sweep();
    expect((await p.job(job.request_id)).state).toBe("running");
    expect(await p.findings()).toEqual([]);
  });

  test("runs that ended before any of them claimed the job fail the attempt, once all have", async () => {
    const job = await p.confirmed();
    await github(job, "provision-1", [
      { id: 1, attempt: 1, status: "completed", conclusion: "failure" },
      { id: 2, attempt: 1, status: "queued", conclusion: null },
    ]);
    await p.sweep();
    expect((await p.job(job.request_id)).state).toBe("queued");
    await github(job, "provision-1", [{ id: 1, attempt: 1, status: "completed", conclusion: "success" }]);
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 failed run_ended", "cleanup 1 dispatched"]);
  });

  test("a cleanup that fails is tried again, three times, then operators are told, and reminded", async () => {
    const job = await failed();
    for (const attempt of [1, 2, 3]) {
      const cleanup = {
        task: "cleanup",
        attempt,
        run_id: 500_000 + Number(job.request_id.slice(-6)) * 10 + attempt,
      } as const;
      await p.says(job, { signal: "failed", ...cleanup, error: "still there" });
    }
    expect(await p.runs(job)).toEqual([
      "provision 1 failed reported",
      "cleanup 1 failed reported",
      "cleanup 2 failed reported",
      "cleanup 3 failed reported",
    ]);
    expect(await p.job(job.request_id)).toMatchObject({ state: "failed", cleanup: "failed" });
    expect((await p.told(job)).at(-1)).toBe(
      `The cleanup after attempt 1 failed 3 times: something may be left running. An operator has to clean up by hand, and then run: headroom jobs cleaned ${job.request_id}. No attempt begins before that, and after 72 hours the request fails permanently.`,
    );
    const reply = (await p.effects(job.request_id)).filter(({ effect }) => effect === "slack:reply").at(-1);
    expect(JSON.stringify(reply?.payload["blocks"])).toContain("<@U0OTTO>");
    await p.superuser.query("delete from capacity.acts");
    await p.superuser.query("select public.clean_provisioning_job($1, 'deleted the machines', 'otto')", [job.id]);
    expect(await p.job(job.request_id)).toMatchObject({ state: "failed", cleanup: "done" });
    expect(await rowsOf(p.superuser, "select split_part(account, ' ', 1) as who from capacity.acts")).toEqual([
      { who: "otto" },
    ]);
    expect((await p.told(job)).at(-1)).toBe("Otto cleaned up by hand.");
    expect(await p.findings()).toEqual([]);
  });

  test("operators are reminded of a failed cleanup after the request has ended, until one of them has cleaned up", async () => {
    const job = await claimed();
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
    await rowsOf(
      p.superuser,
      "update provisioning.attempts set status = 'failed', ended_at = now(), ended_because = 'run_ended', over_at = now(), over_because = 'seen' where job_id = $1 and task = 'cleanup'",
      [job.id],
    );
    await rowsOf(
      p.superuser,
      "update provisioning.jobs set cleanup = 'failed', updated_at = now() - interval '25 hours' where id = $1",
      [job.id],
    );
    await p.sweep();
    await p.sweep();
    const reminder = "The cleanup has failed, and something may still be running. An operator has to clean up by hand.";
    expect((await p.told(job)).filter((said) => said === reminder)).toHaveLength(1);
    await p.superuser.query("select public.clean_provisioning_job($1, 'deleted the machines', 'otto')", [job.id]);
    await p.age(job, 26 * 60);
    await p.sweep();
    expect((await p.told(job)).filter((said) => said === reminder)).toHaveLength(1);
    expect(await p.findings()).toEqual([]);
  });

  test("a silent cleanup is stopped and tried again", async () => {
    const job = await failed();
    await dispatched(job, 11);
    await p.sweep();
    expect(await p.runs(job)).toEqual([
      "provision 1 failed reported",
      "cleanup 1 stopped stale",
      "cleanup 2 dispatched",
    ]);
  });

  test("people are reminded of a failed job as often as the workspace wants, told that it is late, and then it fails permanently", async () => {
    const job = await failed();
    await p.says(job, { signal: "succeeded", task: "cleanup", run_id: 900_000 + version });
    await p.settings({ remind_every_hours: 6, most_reminders: 2 });
    const told = async (): Promise<string[]> => (await p.told(job)).slice(3);
    for (let hours = 0; hours < 23; hours += 1) {
      await p.age(job, 60);
      await p.sweep();
    }
    const still = "The job still waits for somebody to try again, or to give it up.";
    expect(await told()).toEqual([still, still]);
    await p.age(job, 60);
    await p.sweep();
    await p.sweep();
    expect(await told()).toEqual([
      still,
      still,
      "Nobody has tried again for 24 hours. After 72 hours the request fails permanently.",
    ]);
    await p.age(job, 48 * 60);
    await p.sweep();
    expect(await p.job(job.request_id)).toMatchObject({ state: "given_up" });
    expect((await p.row(job.request_id)).state).toBe("FAILED");
    expect(await p.lastShown(job.request_id)).toMatchObject({
      payload: { reason: "Nobody tried again within 72 hours." },
    });
  });

  test("a job that waited for a connected workflow begins with the next sweep", async () => {
    const { id } = await p.create({ workspace: "globex", requester: "rita", owner: "glen", customer: null });
    await p.apply(id, "COMMERCIAL_APPROVED", "glen");
    await p.apply(id, "TECH_REVIEW_APPROVED", "glen");
    await p.apply(id, "CUSTOMER_CONFIRMED", "customer:customer");
    const job = await p.job(id);
    expect(job).toMatchObject({ state: "waiting", attempts: 0 });
    await rowsOf(p.superuser, "select provisioning.put_settings('globex', $1)", [
      JSON.stringify({ owner: "globex", repo: "infra", callback_url: "https://globex.example/callback" }),
    ]);
    await p.sweep();
    expect(await p.job(id)).toMatchObject({ state: "queued", attempts: 1 });
  });

  test("a request that was confirmed before there were jobs gets one", async () => {
    const job = await p.confirmed();
    const client = await p.db.superuser.connect();
    await client.query("set session_replication_role = replica");
    await client.query("delete from provisioning.attempts where job_id = $1", [job.id]);
    await client.query("delete from provisioning.events where job_id = $1", [job.id]);
    await client.query("delete from provisioning.jobs where id = $1", [job.id]);
    await client.end();
    await p.sweep();
    // Somebody may be providing it by hand: it begins when a person says so.
    expect(await p.job(job.request_id)).toMatchObject({ state: "waiting", attempts: 0 });
    expect((await p.told(job)).at(-1)).toMatch(/^The request was confirmed before jobs were kept/);
    await p.superuser.query("select public.retry_provisioning_job($1, 'nobody does', 'otto')", [job.request_id]);
    expect(await p.job(job.request_id)).toMatchObject({ state: "queued", attempts: 1 });
  });

  test("a dispatch's answer says where the run is, and never that it ended", async () => {
    const job = await claimed();
    const id = await runOf(job);
    await github(job, "provision-1", { id, url: "https://github.example/run/1" });
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 claimed"]);
    const { url } = await oneOf<{ url: string }>(
      p.superuser,
      "select run_url as url from provisioning.attempts where job_id = $1",
      [job.id],
    );
    expect(url).toBe("https://github.example/run/1");
  });

  test("a run that could not be stopped is reported, once, and its stop went where it was started", async () => {
    const job = await claimed();
    await rowsOf(p.superuser, "select provisioning.put_settings('acme', $1)", [JSON.stringify({ repo: "moved" })]);
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
    await rowsOf(p.superuser, "select provisioning.put_settings('acme', $1)", [
      JSON.stringify({ repo: "infrastructure" }),
    ]);
    expect((await p.calls(job)).find(({ what }) => what === "stop")?.payload).toMatchObject({ repo: "infrastructure" });
    await rowsOf(
      p.superuser,
      `with row as (select m.outbox_id, m.stream_id, m.lane_id, m.seq from outbox.payloads m join outbox.lanes l on l.lane_id = m.lane_id
                     where l.key = 'job:' || $1 and m.idempotency_key = 'stop'), line as (
         insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, error_code, error_message, uncertain)
         select outbox_id, 1, get_byte(uuid_send(outbox_id), 7), stream_id, 'SKIPPED', 'http_404', 'Not Found', false from row)
       delete from outbox.pending p using row where p.lane_id = row.lane_id and p.seq = row.seq`,
      [job.id],
    );
    await p.sweep();
    await p.sweep();
    expect((await p.told(job)).filter((said) => said.includes("could not be stopped"))).toEqual([
      "The run of attempt 1 could not be stopped, and may still go on: an operator has to check it at GitHub.",
    ]);
  });
});
