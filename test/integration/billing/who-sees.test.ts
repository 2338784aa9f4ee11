/**
 * Who sees which money, which job and which notification: the views of the API, and the tables behind them, for everybody in and outside of the workspace.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { refusalOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";

const members = ["rita", "rob", "cora", "dora", "carl", "vera", "tess", "tim", "otto", "ada", "aude", "gus"];
const sessions: Readonly<Record<string, Session>> = {
  ...Object.fromEntries(members.map((id) => [id, memberSession(id)])),
  "glen@globex": memberSession("glen", "globex"),
  "rita@globex": memberSession("rita", "globex"),
  "a stranger": memberSession("nobody"),
  anon: anonymous,
  service,
};
const staff = ["otto", "ada", "aude", "service"];
const readers = ["rita", "rob", "cora", "tess", "tim", ...staff];
/** In the order of the sessions, so that lists can be compared. */
const inOrder = (names: readonly string[]): string[] => Object.keys(sessions).filter((name) => names.includes(name));

describe.each(POSTGRES_VERSIONS)("who sees money and jobs on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  let made: ReturnType<typeof makeBoth> | undefined;
  /** Two requests that were paid and provisioned, with a refund and a dispute each. Made in a test, where the workspace is connected. */
  const both = (): ReturnType<typeof makeBoth> => (made ??= makeBoth());

  async function makeBoth(): Promise<{ running: string; cancelled: string }> {
    await rowsOf(
      m.superuser,
      "insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'aude', 'Aude', '{auditor}')",
    );
    const { id: running } = await m.bought();
    const { id: cancelled } = await m.bought();
    for (const id of [running, cancelled]) {
      await m.says(await m.job(id), { signal: "claim", step: "network", progress: 10 });
      const dispute = `insert into billing.disputes (stripe_id, workspace_id, request_id, payment_id, currency, amount, status, opened_at)
        select 'dp_' || p.request_id, p.workspace_id, p.request_id, p.id, p.currency, 1, 'needs_response', now()
          from billing.payments p where p.request_id = $1`;
      await rowsOf(m.superuser, dispute, [id]);
      const refund = `insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, asked_by)
        select gen_random_uuid(), p.workspace_id, p.request_id, p.id, 'outside', 'outside', p.currency, 1, 'pending', 'stripe'
          from billing.payments p where p.request_id = $1`;
      await rowsOf(m.superuser, refund, [id]);
    }
    await m.apply(cancelled, "CANCEL_APPROVED", "rita");
    expect([await m.state(running), await m.state(cancelled)]).toEqual(["PROVISIONING", "CANCELLED"]);
    return { running, cancelled };
  }

  async function whoSees(text: string, ...values: readonly string[]): Promise<string[]> {
    const able: string[] = [];
    for (const [name, session] of Object.entries(sessions)) {
      const rows = await overHttp(m.db, session, (client) => rowsOf(client, text, values), { dryRun: true }).catch(
        (error: { code?: string }) => {
          expect(error.code).toMatch(/^(42501|PT401|PT404)$/);
          return [];
        },
      );
      if (rows.length > 0) able.push(name);
    }
    return able;
  }

  test.each(["payments", "provisioning_jobs"])("%s show a request's to its readers and to staff", async (view) => {
    const { running, cancelled } = await both();
    const text = `select from public.${view} where request_id = $1`;
    expect(await whoSees(text, running)).toEqual(inOrder(readers));
    // Operators no longer read the request itself.
    expect(await whoSees(text, cancelled)).toEqual(inOrder(readers));
    expect(await whoSees("select from public.capacity_requests where id = $1", cancelled)).not.toContain("otto");
  });

  test("functions show them to the same, and the same name in another workspace is somebody else", async () => {
    const { running, cancelled } = await both();
    for (const id of [running, cancelled]) {
      const [payment] = await m.payments(id);
      const job = await m.job(id);
      expect(await whoSees("select public.get_payments($1)", id)).toEqual(inOrder(readers));
      expect(await whoSees("select public.get_payment($1)", payment!.id)).toEqual(inOrder(readers));
      expect(await whoSees("select public.get_provisioning_job($1)", job.id)).toEqual(inOrder(readers));
    }
    const retried = (id: string): Promise<unknown> =>
      refusalOf(
        overHttp(m.db, memberSession("rita", "globex"), (client) =>
          rowsOf(client, "select public.retry_provisioning_job($1, 'again')", [id]),
        ),
      );
    const { id } = await m.job(running);
    const [theirs, none] = [await retried(id), await retried(randomUUID())] as { message: string }[];
    expect(theirs).toMatchObject({ code: "PT404", message: none!.message });
  });

  test("a notification is shown to its recipient and to those who oversee the workspace", async () => {
    await both();
    const [told] = await rowsOf<{ id: string }>(
      m.superuser,
      "select id from notify.notifications where workspace_id = 'acme' and recipient_kind = 'member' and recipient = 'rita' limit 1",
    );
    const seen = await whoSees("select from public.notification_outbox where id = $1", told!.id);
    expect(seen).toEqual(inOrder(["rita", "ada", "aude", "service"]));
  });

  test("the balance is shown only to staff", async () => {
    await both();
    expect(await whoSees("select from public.billing_balance")).toEqual(inOrder(staff));
  });

  test("the tables are closed themselves: if the schemas were open, nobody would see more", async () => {
    const { running } = await both();
    await rowsOf(m.superuser, "grant usage on schema billing, provisioning to anon, authenticated, service_role");
    try {
      for (const table of ["payments", "refunds", "disputes", "subscriptions"]) {
        const text = `select from billing.${table} where request_id = $1`;
        expect([table, await whoSees(text, running)]).toEqual([table, inOrder(readers)]);
      }
      expect(await whoSees("select from billing.entries")).toEqual(inOrder(staff));
      for (const table of ["attempts", "steps"]) {
        const text = `select from provisioning.${table} where job_id = (select j.id from provisioning.jobs j where j.request_id = $1)`;
        expect([table, await whoSees(text, running)]).toEqual([table, inOrder(readers)]);
        const every = `select from provisioning.${table}`;
        expect([table, await whoSees(every)]).toEqual([table, inOrder(readers)]);
      }
      for (const table of ["refunds", "disputes", "subscriptions"])
        expect([table, await whoSees(`select from billing.${table}`)]).toEqual([table, inOrder(readers)]);
    } finally {
      await rowsOf(m.superuser, "revoke usage on schema billing, provisioning from anon, authenticated, service_role");
    }
  });
});
