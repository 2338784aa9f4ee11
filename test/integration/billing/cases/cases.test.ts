/**
 * Plays every case of the table and compares the customer's page, the thread, the books and Stripe with it. At the end, everything on the
 * customer's page is true and its buttons work.
 */
import { afterEach, describe, expect, test } from "vitest";
import { rowsOf } from "../../capacity/harness.ts";
import { startCaseStage } from "./stage.ts";
import { steps } from "./steps.ts";
import { groups } from "./table.ts";

const stage = await startCaseStage();
const { p, sandbox } = stage;

afterEach(async () => {
  sandbox.stripe.deliver({});
  sandbox.faults.clear();
  await sandbox.stripe.release();
  await rowsOf(p.superuser, "update billing.installation set live_since = null");
  // No relay sends what was said in Slack, and each sweep of the cases that follow would look whether it has.
  await rowsOf(p.superuser, "update capacity.erasures set finished_at = now() where finished_at is null");
  await rowsOf(
    p.superuser,
    "update billing.findings set resolved_at = now(), resolved_by = 'otto' where resolved_at is null",
  );
});

describe.each(groups)("$title", ({ cases }) => {
  test.each(cases)("$name", async (each) => {
    const scene = await stage.open({ kind: "one_off", ...each.price });
    for (const name of each.steps) {
      await steps[name](stage, scene);
      await stage.flow();
    }
    await stage.settle(scene);
    expect({
      state: (await p.row(scene.id)).state,
      answers: scene.answers,
      customer: await stage.customer(scene),
      thread: await stage.thread(scene),
      books: await stage.books(scene),
      findings: await stage.problems(),
    }).toEqual({
      state: each.state,
      answers: each.answers ?? [],
      customer: each.customer,
      thread: each.thread,
      books: each.books,
      findings: each.findings ?? [],
    });
    expect(stage.stripes(scene)).toEqual(await stage.ours(scene));
    expect(await stage.untrue(scene)).toEqual([]);
  });
});

describe("when all of them have happened", () => {
  test("the books by day have what Stripe has, in each currency, to the cent", async () => {
    const ours = await rowsOf(
      p.superuser,
      `select lower(currency) as currency, sum(taken)::integer as taken, sum(refunded)::integer as refunded,
              sum(disputed)::integer as disputed from public.billing_balance group by currency order by 1`,
    );
    expect(ours).toEqual(sandbox.stripe.books().toSorted((a, b) => a.currency.localeCompare(b.currency)));
  });

  test("everything that was said is in the outbox, and nothing else", async () => {
    expect(await p.unmatched()).toEqual([]);
  });
});
