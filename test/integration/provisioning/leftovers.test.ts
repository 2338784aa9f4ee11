/**
 * After a cleanup that failed permanently, machines may still exist. So no attempt of the job begins before somebody has cleaned up, and
 * the customer's money is not held for longer than the limit for people.
 */
import { describe, expect, test } from "vitest";
import type { TestClient } from "../../helpers/database.ts";
import { startMoney } from "../billing/harness.ts";
import { oneOf, refusalOf, rowsOf } from "../capacity/harness.ts";
import { secretKey, startProvisioning } from "./harness.ts";
import { waitingOn } from "./waiting.ts";

const p = await startProvisioning(18);
const m = await startMoney(18);
const { askedSince, cleanupsFail, nextRun, onTopOfALeftover, retry } = waitingOn(p);
const paid = waitingOn(m);

/** The progress of provisioning on the customer's page. */
async function told(id: string): Promise<Record<string, unknown>> {
  const { story } = await oneOf<{ story: Record<string, unknown> }>(
    m.superuser,
    "select provisioning.customer_story($1) as story",
    [id],
  );
  return story;
}

describe("after a cleanup that failed permanently", () => {
  test("an attempt that was requested earlier does not begin on top of what may be left", async () => {
    const job = await onTopOfALeftover();
    await p.sweep();
    expect(job).toMatchObject({ state: "waiting", attempts: 1 });
    expect((await p.told(job)).at(-1)).toBe(
      `The cleanup after attempt 1 failed 3 times: something may be left running. An operator has to clean up by hand, and then run: headroom jobs cleaned ${job.request_id}. No attempt begins before that, and after 72 hours the request fails permanently.`,
    );
    expect(await askedSince(job, 0)).toContain((await p.told(job)).at(-1));
    expect((await p.calls(job)).filter(({ instruction }) => instruction.endsWith("/2"))).toEqual([]);
  });

  test("only an operator who has cleaned up releases it; the log keeps who and why", async () => {
    const job = await onTopOfALeftover();
    const clean = (as: string): Promise<unknown> =>
      p.superuser.query("select public.clean_provisioning_job($1, 'deleted the machines', $2)", [job.id, as]);
    expect((await refusalOf(clean("rita"))).code).toBe("PT403");
    await clean("otto");
    expect(await p.job(job.request_id)).toMatchObject({ state: "queued", attempts: 2, cleanup: "done" });
    const [event] = await rowsOf(
      p.superuser,
      `select e.event, e.actor_id, capacity.free_text($2, e.reason_hash) as reason from provisioning.events e
        where e.job_id = $1 and e.event = 'CLEANED'`,
      [job.id, job.request_id],
    );
    expect(event).toEqual({ event: "CLEANED", actor_id: "otto", reason: "deleted the machines" });
    expect(await p.findings()).toEqual([]);
  });

  test("the customer's other requests do not wait for it", async () => {
    const customer = { org_id: "waits-other", name: "Initrode" };
    const job = await p.confirmed(customer);
    const other = await p.confirmed(customer);
    await p.says(job, { signal: "failed" });
    await retry(job);
    await cleanupsFail(job);
    expect(await p.job(job.request_id)).toMatchObject({ state: "waiting", cleanup: "failed" });
    expect((await p.job(other.request_id)).state).toBe("queued");
    expect(await p.findings()).toEqual([]);
  });

  test("the payment is kept until the limit, and then refunded, once", async () => {
    const { id } = await m.bought();
    const job = await paid.onTopOfALeftover(await m.job(id));
    expect((await m.told(job)).at(-1)).toMatch(
      /after 72 hours the request fails permanently, and what was paid goes back to the customer\.$/,
    );
    const shown = await told(id);
    expect(shown).toMatchObject({ state: "delayed", held_by: null });
    const left = new Date(String(shown["ends_at"])).getTime() - Date.now();
    expect(Math.round(left / 3_600_000)).toBe(72);
    await paid.hours(job, 71);
    expect(await m.refunds(id)).toEqual([]);
    expect((await m.payments(id)).filter(({ counts }) => counts)).toHaveLength(1);
    await paid.hours(job, 2);
    expect(await m.state(id)).toBe("FAILED");
    const [payment] = await m.payments(id);
    expect(await m.refunds(id)).toEqual([expect.stringContaining(`failed ${payment?.amount}`)]);
    await paid.hours(job, 100);
    expect(await m.refunds(id)).toHaveLength(1);
    // Somebody still has to clean up what is left.
    expect(await paid.waitsOf(job)).toEqual(["cleanup_failed"]);
    expect(await m.problems()).toEqual([]);
  });

  test("somebody requests an attempt while the last cleanup fails: whichever is first, nothing begins", async () => {
    for (const first of ["the cleanup", "the person"]) {
      const job = await p.confirmed();
      await p.says(job, { signal: "failed" });
      for (const attempt of [1, 2]) {
        await p.says(job, { signal: "failed", task: "cleanup", attempt, run_id: nextRun() });
      }
      const last = { signal: "failed", task: "cleanup", attempt: 3, run_id: nextRun() } as const;
      const { body, headers } = await p.signed(job, last);
      const [one, two] = [await p.db.superuser.connect(), await p.db.superuser.connect()];
      const hear = (client: TestClient): Promise<unknown> =>
        client.query("select public.handle_provisioning_callback($1) from set_config('request.headers', $2, true)", [
          body,
          JSON.stringify(headers),
        ]);
      const ask = (client: TestClient): Promise<unknown> =>
        client.query("select public.retry_provisioning_job($1, 'again', 'rita')", [job.id]);
      for (const client of [one, two]) {
        await client.query("begin");
        await client.query("select set_config('headroom.secret_key', $1, true)", [secretKey]);
      }
      const steps = first === "the cleanup" ? [hear, ask] : [ask, hear];
      await steps[0]!(one);
      const second = steps[1]!(two);
      await p.db.waitUntilBlocked(two);
      await one.query("commit");
      if (first === "the cleanup") expect((await refusalOf(second)).detail).toMatch(/^conflict/);
      else await second;
      await two.query("commit");
      await Promise.all([one.end(), two.end()]);
      await p.sweep();
      expect(await p.job(job.request_id)).toMatchObject({
        state: first === "the cleanup" ? "failed" : "waiting",
        cleanup: "failed",
        attempts: 1,
      });
    }
    expect(await p.findings()).toEqual([]);
  });
});
