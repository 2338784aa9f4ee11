/**
 * What people do to jobs: who may, with which reason, on the job that they saw; request and job end together, through whichever entrance.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp } from "../capacity/gateway.ts";
import { codeOf, oneOf, refusalOf } from "../capacity/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("people and jobs on PostgreSQL %i", async (version) => {
  const p = await startProvisioning(version);
  const failed = async (): Promise<Job> => {
    const job = await p.confirmed();
    await p.says(job, { signal: "failed", error: "no" });
    return p.job(job.request_id);
  };
  const call = (
    member: string,
    action: string,
    values: readonly unknown[],
    workspace?: string,
  ): Promise<{ job: Job }> =>
    overHttp(p.db, memberSession(member, workspace), (client) =>
      oneOf<{ job: Job }>(
        client,
        `select public.${action}_provisioning_job($1, $2, p_expected_version => $3) as job`,
        values,
      ),
    );

  test.each(["rita", "otto", "ada"])(
    "%s may request another attempt, by the job's id or the request's",
    async (member) => {
      const [one, two] = [await failed(), await failed()];
      expect((await call(member, "retry", [one.id, "again", null])).job).toMatchObject({ state: "waiting" });
      expect((await call(member, "retry", [two.request_id, "again", two.version])).job).toMatchObject({
        state: "waiting",
      });
    },
  );

  test.each(["cora", "tess"])("%s, who may read the request, may not", async (member) => {
    const job = await failed();
    for (const action of ["retry", "fail", "complete"]) {
      expect(await codeOf(call(member, action, [job.id, "again", null]))).toBe("not_allowed");
    }
  });

  test("the requester may not record an outcome; a person who may not see the job is told that it does not exist", async () => {
    const job = await failed();
    for (const action of ["fail", "complete"]) {
      expect(await codeOf(call("rita", action, [job.id, "because", null]))).toBe("not_allowed");
    }
    const [hidden, none] = [
      await refusalOf(call("dora", "retry", [job.id, "again", null])),
      await refusalOf(call("dora", "retry", ["CR-2026-999999", "again", null])),
    ];
    expect(hidden).toMatchObject({ code: "PT404", message: none.message });
    expect(await refusalOf(call("rita", "retry", [job.id, "again", null], "globex"))).toMatchObject({ code: "PT404" });
  });

  test("a reason is needed, and the version that was seen", async () => {
    const job = await failed();
    for (const reason of [null, "", "  ", "x".repeat(2001), "a\u0007b"]) {
      expect(await codeOf(call("otto", "retry", [job.id, reason, null]))).toBe("invalid_input");
    }
    expect(await codeOf(call("otto", "retry", [job.id, "again", job.version - 1]))).toBe("stale_version");
    expect(await p.job(job.request_id)).toEqual(job);
  });

  test("a repeated request is one request", async () => {
    const job = await failed();
    await call("rita", "retry", [job.id, "again", null]);
    const before = await p.job(job.request_id);
    await call("otto", "retry", [job.id, "again", null]);
    expect(await p.job(job.request_id)).toEqual(before);
  });

  test("a job that runs, failed permanently or was cancelled accepts nothing more", async () => {
    for (const event of ["PROVISIONING_COMPLETE", "PROVISIONING_FAILED", "CANCEL_APPROVED"] as const) {
      const job = await failed();
      await p.apply(job.request_id, event, event === "CANCEL_APPROVED" ? "rita" : "otto");
      expect(await codeOf(call("otto", "retry", [job.id, "again", null]))).toBe("invalid_transition");
    }
  });

  test("after a cleanup that failed nobody tries again before an operator has cleaned up", async () => {
    const job = await failed();
    await p.superuser.query("update provisioning.jobs set cleanup = 'failed' where id = $1", [job.id]);
    await p.superuser.query(
      "update provisioning.attempts set status = 'failed', ended_at = now(), ended_because = 'run_ended', over_at = now(), over_because = 'seen' where job_id = $1 and task = 'cleanup'",
      [job.id],
    );
    expect(await codeOf(call("rita", "retry", [job.id, "again", null]))).toBe("conflict");
    expect(await codeOf(call("otto", "retry", [job.id, "again", null]))).toBe("conflict");
    expect((await call("otto", "clean", [job.id, "cleaned by hand", null])).job).toMatchObject({ cleanup: "done" });
    expect((await call("rita", "retry", [job.id, "again", null])).job).toMatchObject({ state: "queued" });
    expect(await p.findings()).toEqual([]);
  });

  test("a person who is not an operator cannot say that it was cleaned up, and nobody can where it was not needed", async () => {
    const job = await failed();
    await expect(call("rita", "clean", [job.id, "gone", null])).rejects.toThrow("may record that a cleanup is done");
    expect(await codeOf(call("otto", "clean", [job.id, "gone", null]))).toBe("conflict");
  });

  test("a job whose first attempt has not failed cannot be tried again", async () => {
    const job = await p.confirmed();
    expect(await codeOf(call("rita", "retry", [job.id, "again", null]))).toBe("invalid_transition");
  });

  test.each([
    ["complete", "running", "COMPLETED"],
    ["fail", "given_up", "FAILED"],
  ])("%s ends the job as %s and the request as %s, and stops the run", async (action, state, ended) => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    await call("otto", action, [job.id, "bought elsewhere", null]);
    expect(await p.job(job.request_id)).toMatchObject({ state, cleanup: "under_way" });
    expect((await p.row(job.request_id)).state).toBe(ended);
    expect(await p.lastShown(job.request_id)).toMatchObject({
      payload: { reason: "bought elsewhere", job_id: job.id },
    });
    expect(await p.runs(job)).toEqual(["provision 1 stopped by_hand", "cleanup 1 dispatched"]);
    expect(await p.says(job, { signal: "succeeded" })).toMatchObject({ go_on: false, outcome: "stop" });
    expect(await p.findings()).toEqual([]);
  });

  test("the raw event ends the job too, and only its own", async () => {
    const [job, other] = [await p.confirmed(), await p.confirmed()];
    expect(
      await codeOf(p.apply(job.request_id, "PROVISIONING_COMPLETE", "otto", { payload: { job_id: other.id } })),
    ).toBe("invalid_payload");
    await p.apply(job.request_id, "PROVISIONING_COMPLETE", "otto", { payload: { job_id: job.id } });
    expect(await p.job(job.request_id)).toMatchObject({ state: "running" });
  });

  test("get_capacity_request has the job, its runs and its history, for readers of the request", async () => {
    const job = await failed();
    await call("rita", "retry", [job.id, "quota was raised", null]);
    const { story } = await overHttp(p.db, memberSession("rita"), (client) =>
      oneOf<{ story: { jobs: Record<string, unknown>[] } }>(client, "select public.get_capacity_request($1) as story", [
        job.request_id,
      ]),
    );
    expect(story.jobs).toMatchObject([
      {
        id: job.id,
        status: "queued",
        held_by: "cleanup",
        runs: [{ task: "provision", attempt: 1, status: "failed", error: "no" }, { task: "cleanup" }],
        history: [
          { event: "CREATED" },
          { event: "DISPATCHED" },
          { event: "CLAIMED" },
          { event: "FAILED" },
          { event: "RETRIED", actor_id: "rita", reason: "quota was raised" },
        ],
      },
    ]);
  });

  test("the log of jobs is append-only, for its owner and a superuser too", async () => {
    await p.confirmed();
    for (const role of ["headroom_owner", "postgres"] as const) {
      for (const statement of [
        "update provisioning.events set actor_id = 'x'",
        "delete from provisioning.events",
        "truncate provisioning.events",
      ]) {
        expect(await codeOf(p.db.as(role).pool.query(statement))).toBe("append_only");
      }
    }
  });

  test("an erasure removes the texts of runs and people, but not the fact that they reported", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "claim" });
    await p.says(job, { signal: "heartbeat", step: "Making Initech's machines", progress: 10 });
    await p.says(job, { signal: "failed", error: "Initech has no quota", failed_step: "Initech" });
    await call("otto", "fail", [job.id, "Initech gave up", null]);
    await p.superuser.query("select public.erase_customer($1, 'asked to', 'ada')", [job.request_id]);
    await p.sweep();
    const left = await oneOf<{ left: string }>(
      p.superuser,
      `select concat((select jsonb_agg(a) from provisioning.attempts a where a.job_id = $1), (select jsonb_agg(s) from provisioning.steps s where s.job_id = $1),
                     (select jsonb_agg(e) from provisioning.events e where e.job_id = $1), (select jsonb_agg(t) from capacity.free_texts t where t.request_id = $2),
                     (select jsonb_agg(n) from capacity.notices n where n.request_id = $2)) as left`,
      [job.id, job.request_id],
    );
    expect(left.left).toContain("(erased)");
    expect(left.left).not.toContain("Initech");
    expect(await p.findings()).toEqual([]);
  });
});
