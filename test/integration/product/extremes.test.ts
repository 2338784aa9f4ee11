/**
 * One row, one member, one value: whatever a caller sends is refused with our own message or accepted, and what was accepted breaks nothing
 * for anybody. The extremes of every type are put into every place of every call; then everything that reads rows is called by every role
 * that may.
 */
import type { ClientBase } from "pg";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestRole } from "../../helpers/database.ts";
import { memberSession, service, anonymous, type Session } from "../capacity/gateway.ts";
import { rowsOf } from "../capacity/harness.ts";
import type { Call } from "./call.ts";
import { callsOf, beginAs, exposed, loginOf, statementOf, type Exposed } from "./calling.ts";
import { extremesOf, type Extreme } from "./extremes.ts";
import { startInstallation } from "./installation.ts";

interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Calls that end what others need: made last, so that the others still have something to work on. */
const ending =
  /remove|erase|withdraw|revoke|drop_|skip|stop_|clear|resolve|sign_out|cancel|decide|complete|fail_|disable|end_sub|gone|apply_/;

/** Rows from before times were bounded: each alone in its stream, where nothing hides it. */
const beforeTheBound = `
select outbox.create_stream(name || suffix, p_ordered => ordered)
  from unnest('{of-infinity,of-the-end}'::text[]) name cross join (values ('-ordered', true), ('', false)) k(suffix, ordered);
select outbox.enqueue(s.name, 'k', 'one', '1', 'sure', '{}', p_not_before => now() + interval '1 year')
  from outbox.streams s where s.name ~ '^of-';
create temp table old as
select p.outbox_id, p.lane_id, case when s.name ~ 'infinity' then 'infinity'::timestamptz else '294276-12-31 23:59:59.999999+00' end as at
  from outbox.payloads p join outbox.streams s using (stream_id) where s.name ~ '^of-';
update outbox.heads h set due = o.at from old o where h.lane_id = o.lane_id;
update outbox.pending p set due = o.at, expires_at = o.at from old o where p.outbox_id = o.outbox_id;
update outbox.pending_unordered u set due = o.at, expires_at = o.at from old o where u.outbox_id = o.outbox_id;
update outbox.payloads p set expires_at = o.at from old o where p.outbox_id = o.outbox_id;
update outbox.streams set dedupe_days = 2147483647 where name ~ '^of-';
update directory.members set away_from = '-infinity', away_until = 'infinity' where id = 'vera';
update directory.api_keys set expires_at = 'infinity' where id = 'rita-key'`;

/** Everything that reads many rows, in one go: runs after a call has put an extreme row there. */
const watch = `
do $$
declare
  v_failed jsonb;
begin
  perform from outbox.status();
  perform from outbox.next_due(array(select stream_id from outbox.streams), null);
  perform from outbox.streams s cross join lateral outbox.claim((select max(relay_id) from outbox.relays), s.stream_id, 1000, 1000) c;
  perform from outbox.gc();
  perform from outbox.sweep();
  perform from outbox.reap();
  perform from outbox.rail_status();
  perform from outbox.destination_status();
  perform from notify.send_due();
  perform from notify.channel_figures();
  perform from billing.waiting_counts();
  perform from provisioning.job_counts();
  perform from webhooks.raise_alerts();
  v_failed := public.run_capacity_request_timers() -> 'failed';
  if v_failed <> '[]' then
    raise 'timers: %', v_failed;
  end if;
end
$$`;

describe.each(POSTGRES_VERSIONS)("the extremes of every type on PostgreSQL %i", async (version) => {
  const installation = await startInstallation(version);
  const { db, superuser } = installation.money;
  const clients = new Map<TestRole, ClientBase>();
  let made = 0;

  async function clientOf(login: TestRole): Promise<ClientBase> {
    const known = clients.get(login) ?? (await db.as(login).connect());
    clients.set(login, known);
    return known;
  }

  /** One call in its own transaction, committed or followed by something else; returns the outcome. */
  async function attempt(login: TestRole, call: Call, of: Exposed, then = ""): Promise<Failure | null> {
    const client = await clientOf(login);
    try {
      await beginAs(client, call);
      const { text, values } = statementOf(call, of, String((made += 1)));
      await client.query(text, values);
    } catch (error) {
      await client.query("rollback");
      return error as Error & Failure;
    }
    try {
      await client.query(then === "commit" ? "commit" : `set constraints all immediate; ${then}; rollback`);
      return null;
    } catch (error) {
      await client.query("rollback");
      return { code: "afterwards", message: `${(error as Failure).code} ${(error as Failure).message}` };
    }
  }

  type Complain = (title: string, failure: Failure) => void;

  async function run(
    complain: Complain,
    login: TestRole,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Record<string, unknown>[]> {
    return rowsOf<Record<string, unknown>>(await clientOf(login), text, values).catch((error: unknown) => {
      complain(text, error as Error & Failure);
      return [];
    });
  }

  /** The automatic work: all of it once with things as they are, and once when everything held is due. */
  async function upkeep(complain: Complain): Promise<void> {
    for (const due of [false, true]) {
      if (due) {
        await run(complain, "postgres", "update notify.parts set due_at = now() where state = 'held'");
        await run(
          complain,
          "postgres",
          "update capacity.requests set next_deadline_at = now() where next_deadline_at is not null",
        );
      }
      for (const name of ["capacity.run_timers(1000, 'timers')", "notify.send_due()"]) {
        const [answer] = await run(complain, "headroom_executor", `select to_jsonb(${name}) as answer`);
        const failed = (answer?.["answer"] as { failed?: unknown[] } | undefined)?.failed ?? [];
        for (const each of failed) complain(name, { code: "failed", message: JSON.stringify(each) });
      }
      for (const name of [
        "webhooks.raise_alerts()",
        "outbox.reap()",
        "outbox.sweep()",
        "outbox.gc()",
        "outbox.ensure_partitions(2)",
      ])
        await run(complain, "headroom_executor", `select * from ${name}`);
      const streams = await run(complain, "headroom_executor", "select stream_id from outbox.streams order by 1");
      const ids = streams.map(({ stream_id: id }) => id);
      const served = "(select jsonb_build_object('free', 100, 'rails', jsonb_agg(r.rail_id)) from outbox.rails r)";
      for (const inFlight of ["null", served])
        await run(complain, "headroom_executor", `select * from outbox.next_due($1, ${inFlight})`, [ids]);
      for (const id of ids) {
        await run(
          complain,
          "headroom_executor",
          `with claimed as materialized (select * from outbox.claim((select max(relay_id) from outbox.relays), $1::smallint, 1000, 1000))
           select s.* from outbox.settle($1::smallint, array(
             select jsonb_populate_record(null::outbox.row_outcome, to_jsonb(c) || '{"kind": "delivered", "latency_ms": 1}') from claimed c)) s`,
          [id],
        );
      }
    }
  }

  test(
    "are refused with our own message or accepted, and then nothing that reads rows fails because of them",
    { timeout: 300_000 },
    async () => {
      await installation.make();
      const catalogue = await exposed(superuser);
      const calls = callsOf(installation, catalogue);
      const unexpected: string[] = [];
      const complain: Complain = (title, { code, message }) => {
        unexpected.push(`${title}: ${code} ${message.slice(0, 300)}`);
      };

      await run(complain, "postgres", beforeTheBound);
      await run(complain, "postgres", watch);
      const works = new Set<string>();
      for (const call of calls.writing) {
        const failure = await attempt(loginOf(call), call, catalogue.get(call.of)!);
        if (failure === null) works.add(call.of);
        else if (!isRefusal(failure)) complain(`${call.of} as in the table`, failure);
      }
      for (const of of new Set(calls.writing.map((call) => call.of)))
        if (!works.has(of)) complain(of, { code: "refused", message: "every call of it in the table" });

      // The first of every call, then the second: between two that write the same row, everything is read.
      const turns = calls.writing.map((call) => ({ call, of: catalogue.get(call.of)!, ends: ending.test(call.of) }));
      const queues = turns.map(({ call, of }) => [...extremesOf(call, of)]);
      const atLast: Extreme[] = [];
      const counts = { tried: 0, taken: 0, looks: 0 };
      for (let round = 0; queues.some((queue) => round < queue.length); round += 1) {
        let isToLook = false;
        for (const [n, { call, of, ends }] of turns.entries()) {
          const extreme = queues[n]![round];
          if (extreme === undefined) continue;
          counts.tried += 1;
          const failure = await attempt(loginOf(call), extreme.call, of, ends ? "" : "commit");
          if (failure === null) {
            counts.taken += 1;
            if (ends) atLast.push(extreme);
            isToLook ||= extreme.isMeasure;
          } else if (!isRefusal(failure)) complain(extreme.title, failure);
        }
        if (!isToLook) continue;
        counts.looks += 1;
        const client = await clientOf("postgres");
        await client
          .query(watch)
          .catch((error: unknown) => complain(`looking in round ${round}`, error as Error & Failure));
      }
      for (const { call, title } of atLast) {
        const failure = await attempt(loginOf(call), call, catalogue.get(call.of)!, "commit");
        if (failure !== null && !isRefusal(failure)) complain(`kept: ${title}`, failure);
      }

      await upkeep(complain);
      for (const of of catalogue.values()) {
        if (of.kind === "relation") {
          for (const [login, session] of of.roles.flatMap((role) => sessionsOf[role] ?? [])) {
            const failure = await attempt(login, { of: of.of, args: {}, ...(session === null ? {} : { session }) }, of);
            if (failure !== null) complain(`select from ${of.of} as ${login}`, failure);
          }
        }
      }
      for (const call of calls.reading) {
        const of = catalogue.get(call.of)!;
        const sessions =
          call.session === undefined
            ? of.roles.flatMap((role) => sessionsOf[role] ?? [])
            : [[loginOf(call), call.session] as const];
        for (const [login, session] of sessions) {
          const plainly = await attempt(login, { ...call, ...(session === null ? {} : { session }) }, of);
          if (plainly !== null && !plainly.code.startsWith("PT4"))
            complain(`${call.of} as ${login} ${JSON.stringify(session?.claims ?? "")}`, plainly);
          for (const extreme of extremesOf(call, of)) {
            const failure = await attempt(login, { ...extreme.call, ...(session === null ? {} : { session }) }, of);
            if (failure !== null && !isRefusal(failure)) complain(`${extreme.title} as ${login}`, failure);
          }
        }
      }
      expect(unexpected).toEqual([]);
    },
  );
});

/** Our own message, or Postgres's about a value that is not of its type, without internals. */
const isRefusal = ({ code, message }: Failure): boolean =>
  /^PT(4\d\d|503)$/.test(code) ||
  (/^(22|54)...$/.test(code) && !/\b[a-z]+\.[a-z_]+\b|column|relation|plpgsql/i.test(message));

const sessionsOf: Readonly<Record<string, readonly (readonly [TestRole, Session | null])[]>> = {
  anon: [["authenticator", anonymous]],
  authenticated: [
    ["authenticator", memberSession("rita")],
    ["authenticator", memberSession("ada")],
  ],
  service_role: [["authenticator", service]],
  headroom_ingest: [["headroom_ingest", null]],
  headroom_executor: [["headroom_executor", null]],
  headroom_control: [["headroom_control", null]],
  headroom_auditor: [["headroom_auditor", null]],
};
