/**
 * Stripe fails to make the page on which a customer pays, and repeats that answer under the same key for a day: the page is looked for, and
 * another checkout begins only when there is none. There are never two pages to pay on.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { Session } from "../../../src/sandbox/stripe/things.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { until } from "../outbox/relay/stage.ts";
import { readPage } from "./cases/page.ts";
import { startCaseStage, type Scene } from "./cases/stage.ts";

const stage = await startCaseStage();
const { p, sandbox } = stage;
const pool = p.superuser;
const create = { provider: "stripe", method: "checkout.sessions.create" } as const;

afterEach(() => sandbox.faults.clear());

const pagesOf = ({ id }: Scene): Session[] =>
  sandbox.stripe.sessions().filter(({ metadata }) => metadata["headroom_request"] === id);
const openPagesOf = (scene: Scene): Session[] => pagesOf(scene).filter(({ status }) => status === "open");

const pay = ({ visitor, token }: Scene): Promise<Response> => visitor.post(`/confirm/${token}`, { decision: "pay" });
const isPage = (answer: Response, session: Session | undefined): boolean =>
  answer.headers.get("location") === `${sandbox.url}/stripe/checkout/${session?.id}`;

/** The idempotency keys under which Stripe was asked for pages of the request, each once. */
async function keysOf({ id }: Scene): Promise<string[]> {
  const checkouts = await rowsOf<{ id: string }>(pool, "select id from billing.checkouts where request_id = $1", [id]);
  const asked = sandbox.requests.list().filter(({ method, channel }) => {
    return method === create.method && checkouts.some((checkout) => checkout.id === channel);
  });
  return [...new Set(asked.map(({ body }) => String((body as { idempotency_key?: string }).idempotency_key)))];
}

/** The newest call for a page: its last result, and whether it was given up. */
const rowOf = `
  select o.outbox_id, outbox.is_lost(o.outbox_id) as failed,
         (select a.rail_code from outbox.attempts a
           where a.outbox_id = o.outbox_id and a.state <> 'DISPATCHING' order by a.attempt_no desc limit 1) as error
    from billing.checkouts c join outbox.rows o on o.instruction_id = c.id::text and o.idempotency_key = 'create'
   where c.request_id = $1 order by c.number desc limit 1`;

/** Waits until the newest call got a repeated failure, then ends its pause. */
async function skipPause({ id }: Scene): Promise<void> {
  const [row] = await until(
    () => rowsOf<{ outbox_id: string; error: string | null }>(pool, rowOf, [id]),
    ([newest]) => newest?.error === "replayed_failure",
    "Stripe to repeat its failure",
  );
  await until(
    () =>
      rowsOf<{ result: string }>(pool, "select result from outbox.retry_now(array[$1::uuid], 'otto', 'It is time.')", [
        row?.outbox_id,
      ]),
    ([answer]) => answer?.result !== "in_flight" && answer?.result !== "busy",
    "the pause to end",
  );
}

async function untilGivenUp({ id }: Scene): Promise<void> {
  await until(
    () => rowsOf<{ failed: boolean | null }>(pool, rowOf, [id]),
    ([row]) => row?.failed === true,
    "the call to be given up",
  );
}

async function answersOf(scene: Scene): Promise<string[]> {
  const [page, waiting] = [await stage.customer(scene), await scene.visitor.get(`/confirm/${scene.token}/pay`)];
  return [page[0] ?? "", readPage(await waiting.text())[0] ?? "", String(waiting.status)];
}

describe("Stripe repeats a failure to make the page", () => {
  test("when it made none, the customer is told so within a minute and pays on another page", async () => {
    const scene = await stage.open({ kind: "one_off" });
    sandbox.faults.add({ ...create, kind: "error500Midway", times: 1 });
    const first = pay(scene);
    await skipPause(scene);
    expect((await first).headers.get("location")).toBe(`/confirm/${scene.token}/pay`);
    await stage.flow();
    expect(await answersOf(scene)).toEqual([
      "Please confirm this offer by paying",
      "The payment could not be prepared",
      "503",
    ]);
    expect(pagesOf(scene)).toEqual([]);
    const again = await pay(scene);
    expect(isPage(again, openPagesOf(scene)[0])).toBe(true);
    expect(pagesOf(scene)).toHaveLength(1);
    expect(await keysOf(scene)).toHaveLength(2);
  });

  test("when it made one, the customer is sent to that page, and no other is made", async () => {
    const scene = await stage.open({ kind: "one_off" });
    sandbox.faults.add({ ...create, kind: "error500AfterAccept", times: 1 });
    const answer = await pay(scene);
    expect(isPage(answer, openPagesOf(scene)[0])).toBe(true);
    expect(pagesOf(scene)).toHaveLength(1);
    expect(await keysOf(scene)).toHaveLength(1);
  });

  test("two clicks at the same time while it fails, and two after it, lead to one page", async () => {
    const scene = await stage.open({ kind: "one_off" });
    sandbox.faults.add({ ...create, kind: "error500Midway", times: 1 });
    const clicks = [pay(scene), pay(scene)];
    await skipPause(scene);
    await Promise.all(clicks);
    await stage.flow();
    const [one, other] = await Promise.all([pay(scene), pay(scene)]);
    const [page] = openPagesOf(scene);
    expect([isPage(one, page), isPage(other, page)]).toEqual([true, true]);
    expect(pagesOf(scene)).toHaveLength(1);
  });

  test("a relay that returns its result after another has given up changes nothing", async () => {
    const scene = await stage.open({ kind: "one_off" });
    sandbox.faults.add({ ...create, kind: "error500Midway", times: 1 });
    sandbox.faults.add({ provider: "stripe", method: "checkout.sessions.list", kind: "late", times: 1 });
    const first = pay(scene);
    await sandbox.requests.waitFor(({ method, fault }) => method === "checkout.sessions.list" && fault === "late");
    // The relay is cut off from its claim, as if its process had died: the reaper tries again.
    await rowsOf(
      pool,
      `update outbox.claims set lease_until = now() - interval '1 minute'
        where claim_id in (select h.claim_id from outbox.heads h join outbox.lanes l using (lane_id) where l.key = $1)`,
      [`checkout:${scene.id}`],
    );
    await rowsOf(pool, "select outbox.reap()");
    await untilGivenUp(scene);
    await first;
    await stage.flow();
    const again = await pay(scene);
    sandbox.faults.release();
    await stage.flow();
    expect(isPage(again, openPagesOf(scene)[0])).toBe(true);
    expect(pagesOf(scene)).toHaveLength(1);
  });
});

async function look({ id }: Scene): Promise<void> {
  await rowsOf(pool, "update billing.checkouts set next_look_at = now() where request_id = $1", [id]);
  await stage.sweep();
  await stage.flow();
}

describe("a call for the page is given up in doubt", () => {
  /** Answered when their wait has ended, whatever became of the page. */
  const clicks: Promise<Response>[] = [];
  afterEach(() => Promise.allSettled(clicks.splice(0)));

  async function givenUp(kind: "dropAfterAccept" | "dropBeforeAccept"): Promise<Scene> {
    const scene = await stage.open({ kind: "one_off" });
    await rowsOf(pool, "update outbox.streams set max_tries = 1 where name = 'billing'");
    sandbox.faults.add({ ...create, kind, times: 1 });
    const click = pay(scene);
    await untilGivenUp(scene);
    await rowsOf(pool, "update outbox.streams set max_tries = 12 where name = 'billing'");
    expect((await scene.visitor.get(`/confirm/${scene.token}/pay`)).status).toBe(200);
    clicks.push(click);
    return scene;
  }

  test("and the page that was made is found, closed, and replaced by one whose address is known", async () => {
    const scene = await givenUp("dropAfterAccept");
    await look(scene);
    await stage.sweep();
    const [lost] = openPagesOf(scene);
    const answer = await pay(scene);
    await stage.flow();
    const [page, ...others] = openPagesOf(scene);
    expect([isPage(answer, page), others, sandbox.stripe.session(lost?.id ?? "").status]).toEqual([
      true,
      [],
      "expired",
    ]);
  });

  test("and none was made: the customer waits until that is known, and then pays on another", async () => {
    const scene = await givenUp("dropBeforeAccept");
    await look(scene);
    // A query this early proves nothing: Stripe may still be making it.
    await stage.sweep();
    expect((await scene.visitor.get(`/confirm/${scene.token}/pay`)).status).toBe(200);
    const patient = await scene.visitor.get(`/confirm/${scene.token}/pay?try=40`);
    expect([patient.status, readPage(await patient.text())[0]]).toEqual([503, "The payment is not ready yet"]);
    await look(scene);
    await rowsOf(
      pool,
      "update billing.sightings set seen_at = now() + interval '6 minutes' where outbox_key like 'billing/look:checkout:%'",
    );
    await stage.sweep();
    expect((await scene.visitor.get(`/confirm/${scene.token}/pay`)).status).toBe(503);
    expect(isPage(await pay(scene), openPagesOf(scene)[0])).toBe(true);
    expect(pagesOf(scene)).toHaveLength(1);
  });

  test("and the page turns up after another has been opened: it is closed", async () => {
    const scene = await givenUp("dropAfterAccept");
    const { id } = await oneOf<{ id: string }>(pool, "select id from billing.checkouts where request_id = $1", [
      scene.id,
    ]);
    await rowsOf(pool, "update billing.checkouts set state = 'failed', ended_at = now() where id = $1", [id]);
    const [lost] = openPagesOf(scene);
    await pay(scene);
    await rowsOf(pool, "select billing.reconcile_payments('otto')");
    for (let turn = 0; turn < 6; turn += 1) {
      await stage.flow();
      await stage.sweep();
    }
    const [page, ...others] = openPagesOf(scene);
    expect([page?.id !== lost?.id, others]).toEqual([true, []]);
  });
});
