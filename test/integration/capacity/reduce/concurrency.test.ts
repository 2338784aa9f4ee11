/**
 * Several people act on one request at the same time: whatever the order, one of them decides, and the others are told.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { memberSession, overHttp } from "../gateway.ts";
import type { EventType } from "./model.ts";
import { codeOf, oneOf, rowsOf, startWorkflow, type Answer } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("at the same instant on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const clients: TestClient[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 4; n += 1) clients.push(await workflow.db.superuser.connect());
  });
  afterAll(() => Promise.all(clients.map((client) => client.end())));

  const together = (id: string, ...steps: readonly [EventType, string][]): Promise<PromiseSettledResult<Answer>[]> =>
    Promise.allSettled(
      steps.map(([event, actor], index) => workflow.apply(id, event, actor, { client: clients[index]! })),
    );

  test("both approvals, 200 times, lead to one confirmation with one token and one deadline each", async () => {
    const ids: string[] = [];
    for (let round = 0; round < 200; round += 1) {
      const { id } = await workflow.create({ ttlDays: 1 + (round % 90) });
      const steps: [EventType, string][] = [
        ["COMMERCIAL_APPROVED", "cora"],
        ["TECH_REVIEW_APPROVED", round % 2 === 0 ? "tess" : "tim"],
      ];
      const answers = await together(id, ...(round % 3 === 0 ? steps.toReversed() : steps));
      expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "fulfilled"]);
      ids.push(id);
    }
    const odd = await rowsOf(
      workflow.superuser,
      `select r.id, r.state, r.version,
              (select count(*) from capacity.events e where e.request_id = r.id and e.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED') as entered,
              (select count(*) from capacity.confirmation_tokens t where t.request_id = r.id) as tokens
         from capacity.requests r
        where r.id = any ($1)
          and (r.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and r.version = 3
                   and r.next_deadline_at = greatest(r.commercial_approved_at, r.technical_approved_at) + make_interval(hours => 24 * r.confirmation_ttl_days)
                   and 1 = (select count(*) from capacity.events e where e.request_id = r.id and e.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED')
                   and (select array_agg((t.id, t.expires_at)) from capacity.confirmation_tokens t where t.request_id = r.id)
                       = array[(r.confirmation_token_id, r.next_deadline_at)]) is not true`,
      [ids],
    );
    expect(odd).toEqual([]);
    await workflow.expectWhole(ids);
  });

  test("two members of the group approve: one wins, the other is told who", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id } = await workflow.create();
      const answers = await together(id, ["TECH_REVIEW_APPROVED", "tess"], ["TECH_REVIEW_APPROVED", "tim"]);
      const values = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : undefined));
      const [winner] = values.filter((value) => value?.repeated === false);
      const [other] = values.filter((value) => value?.repeated === true);
      expect(winner).toBeDefined();
      expect(other).toMatchObject({ decided_by: (await workflow.row(id)).technical_approved_by, version: 2 });
      await workflow.expectWhole([id]);
    }
  });

  test("an approval, a rejection and a cancellation: what comes after the end is refused", async () => {
    for (let round = 0; round < 30; round += 1) {
      const { id } = await workflow.create();
      const answers = await together(
        id,
        ["COMMERCIAL_APPROVED", "cora"],
        ["TECH_REVIEW_REJECTED", "tess"],
        ["CANCEL_APPROVED", "rita"],
      );
      const codes = answers.map((answer) =>
        answer.status === "fulfilled" ? "done" : (answer.reason as { detail: string }).detail.replace(/:.*/s, ""),
      );
      // One ending rules out the other; the approval came before, or was refused too.
      expect(codes.slice(1).toSorted()).toEqual(["done", "invalid_transition"]);
      expect(["done", "invalid_transition"]).toContain(codes[0]);
      await workflow.expectWhole([id]);
    }
  });

  test("the customer's yes and the owner's no on their behalf: one of them ends it", async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      const answers = await together(id, ["CUSTOMER_CONFIRMED", "customer:customer"], ["CUSTOMER_DECLINED", "cora"]);
      expect(answers.map((answer) => answer.status).toSorted()).toEqual(["fulfilled", "rejected"]);
      await workflow.expectWhole([id]);
    }
  });

  test("a caller who waits for another's transaction decides on its result, or on the earlier state if it rolled back", async () => {
    for (const ending of ["commit", "rollback"] as const) {
      const { id } = await workflow.create();
      const [one, two] = [clients[0]!, clients[1]!];
      await one.query("begin");
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { client: one });
      const second = workflow.apply(id, "TECH_REVIEW_APPROVED", "tess", { client: two });
      await workflow.db.waitUntilBlocked(two);
      await one.query(ending);
      expect(await second).toMatchObject(
        ending === "commit"
          ? { state: "CUSTOMER_CONFIRMATION_REQUIRED", version: 3 }
          : { state: "UNDER_REVIEW", version: 2 },
      );
      await workflow.expectWhole([id]);
    }
  });

  test("a stale caller who waited is refused", async () => {
    const { id } = await workflow.create();
    const [one, two] = [clients[0]!, clients[1]!];
    await one.query("begin");
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { client: one, expectedVersion: 1 });
    const second = codeOf(workflow.apply(id, "TECH_REVIEW_APPROVED", "tess", { client: two, expectedVersion: 1 }));
    await workflow.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await second).toBe("stale_version");
  });

  test("the same idempotency key from two connections makes one request", async () => {
    const [one, two] = [clients[0]!, clients[1]!];
    await one.query("begin");
    const first = await workflow.create({ key: "at-once" }, one);
    const second = workflow.create({ key: "at-once" }, two);
    await workflow.db.waitUntilBlocked(two);
    await one.query("commit");
    expect((await second).id).toBe(first.id);
    await one.query("begin");
    await workflow.create({ key: "given-up" }, one);
    const other = workflow.create({ key: "given-up" }, two);
    await workflow.db.waitUntilBlocked(two);
    await one.query("rollback");
    expect(await other).toMatchObject({ state: "UNDER_REVIEW" });
  });

  test("four clicks by the same member over HTTP are one approval", async () => {
    const { id } = await workflow.create();
    const click = () =>
      overHttp(workflow.db, memberSession("cora"), (client) =>
        oneOf<{ version: number }>(
          client,
          "select version from public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')",
          [id],
        ),
      );
    expect(await Promise.all([click(), click(), click(), click()])).toEqual(
      Array.from({ length: 4 }, () => ({ version: 2 })),
    );
  });
});
