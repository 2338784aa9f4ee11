/**
 * What one member can cause for others: how often they may act, how few messages that makes, and that others' messages overtake theirs.
 * Does not own: the limits of one request (notices.test.ts), nor the wizard's (billing).
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../gateway.ts";
import { until } from "../../outbox/relay/stage.ts";
import { createCall, createValues, oneOf, refusalOf, refusedAs, rowsOf, type RequestRow } from "../harness.ts";
import { customer, linearRail, sentFor, slackRail, startSurfaces, surfaceRail, type Surfaces } from "../surfaces.ts";

interface Message {
  readonly method: string;
  readonly text?: string;
}

const others = () => [surfaceRail("email"), surfaceRail("webhook")];

/** Acts of members that others are notified of: each is counted, here or where its tests are. */
const counted = [
  "create_capacity_request",
  "apply_capacity_event",
  "decide_capacity_request",
  "nudge_capacity_request",
  "note_capacity_request",
  "set_customer_address",
  "send_confirmation_link",
  "retry_provisioning_job",
  "fail_provisioning_job",
  "complete_provisioning_job",
  "clean_provisioning_job",
  "refund_payment",
  "end_subscription",
];

/** Why other writes are not counted. */
const uncounted: Readonly<Record<string, string>> = {
  begin_checkout: "one page at Stripe for a request",
  decide_by_token: "the link works once",
  begin_draft: "writes nothing",
  describe_draft: "writes nothing",
  save_draft: "the wizard's limits: so many mails for a draft, a mailbox and a network",
  send_draft_link: "the same",
  submit_draft: "by a link that was mailed",
  erase_customer: "sends nothing",
  set_notification_preferences: "one's own",
  set_slack_webhook: "one's own",
  mark_all_notifications_read: "one's own",
  mark_notification_read: "one's own",
  sign_out_everywhere: "one's own",
  resubscribe: "one's own",
  unsubscribe: "one's own",
  put_endpoint: "sends nothing, and admins alone",
  remove_endpoint: "sends nothing, and admins alone",
  enable_endpoint: "sends nothing, and admins alone",
  disable_endpoint: "sends nothing, and admins alone",
  rotate_endpoint_secret: "sends nothing, and admins alone",
  set_notification_template: "sends nothing, and admins alone",
  reset_notification_template: "sends nothing, and admins alone",
  handle_slack_webhook: "signed by Slack; members' acts there are counted as theirs",
  handle_linear_webhook: "signed by Linear; ranked, and never refused, since it has already happened",
  handle_github_webhook: "signed by GitHub",
  handle_stripe_webhook: "signed by Stripe",
  handle_provisioning_callback: "signed by the run",
};

describe.each(POSTGRES_VERSIONS)("a flood by one member on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const db = surfaces.superuser;
  const as = <Row extends object>(session: Session, text: string, values: unknown[]): Promise<Row> =>
    overHttp(surfaces.db, session, (client) => oneOf<Row>(client, text, values));
  const create = (session: Session, requester = "rita"): Promise<RequestRow> =>
    as(session, createCall, createValues({ requester, customer }));

  beforeEach(async () => {
    await surfaces.settings({ acts_per_hour: 300 });
    await rowsOf(db, "delete from capacity.acts");
  });

  describe("leaves few messages", () => {
    test("a request that was cancelled before its thread existed has one message, and the reply that says so", async () => {
      const { id } = await surfaces.create({ customer });
      await surfaces.apply(id, "CANCEL_APPROVED", "rita");
      const [slack, linear] = [slackRail(), linearRail()];
      await surfaces.relay(slack, linear, ...others());
      await surfaces.untilFinished(id);
      expect(sentFor<Message>(slack, id).map(({ method }) => method)).toEqual(["chat.postMessage", "chat.postMessage"]);
      expect(sentFor<Message>(slack, id)[0]?.text).toContain("cancelled");
      const operations = sentFor<{ operation: string; state_kind?: string }>(linear, id);
      expect(operations.map(({ operation }) => operation)).toEqual(["issueCreate", "commentCreate"]);
      expect(operations[0]?.state_kind).toBe("canceled");
      expect(await surfaces.unmatched()).toEqual([]);
    });

    test("an event that happens while the first message may be on its way is told by an update", async () => {
      const { id } = await surfaces.create({ customer });
      let asked = 0;
      const slack = slackRail({
        send: async (message, _context, count) => {
          if (count > 1) return { kind: "delivered", response: { ts: "1700000000.000001" } };
          await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
          return { kind: "unknown", reason: `no answer about ${message.outboxId}`, code: "timeout" };
        },
        lookup: () => {
          asked += 1;
          return { kind: "found", response: { ts: "1700000000.000001" } };
        },
      });
      await rowsOf(db, "update outbox.streams set backoff_base_ms = 100 where name = 'capacity'");
      await surfaces.relay(slack, linearRail(), ...others());
      await surfaces.untilFinished(id);
      expect(asked).toBe(1);
      expect(sentFor<Message>(slack, id).map(({ method }) => method)).toEqual([
        "chat.postMessage",
        "chat.update",
        "chat.postMessage",
      ]);
    });

    test("a first message that was not accepted says at its next try what happened meanwhile, and no update follows", async () => {
      const { id } = await surfaces.create({ customer });
      const slack = slackRail({
        send: async (_message, _context, count) => {
          if (count > 1) return { kind: "delivered", response: { ts: "1700000000.000001" } };
          await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
          return { kind: "retry", code: "http_5xx", reason: "not now" };
        },
      });
      await rowsOf(db, "update outbox.streams set backoff_base_ms = 100 where name = 'capacity'");
      await surfaces.relay(slack, linearRail(), ...others());
      await surfaces.untilFinished(id);
      const sent = sentFor<Message>(slack, id);
      expect(sent.map(({ method }) => method)).toEqual(["chat.postMessage", "chat.postMessage", "chat.postMessage"]);
      expect(JSON.stringify(sent[1])).toContain("approved by Cora");
    });
  });

  describe("does not hold up others", () => {
    test("a colleague's request overtakes those that one member made before, from the eleventh on, in the same channel", async () => {
      const asked: string[] = [];
      for (let n = 0; n < 45; n += 1) asked.push((await create(memberSession("rita"))).id);
      const colleague = (await create(memberSession("rob"), "rob")).id;
      const places = await placesInChannel(surfaces, [...asked, colleague]);
      expect(places.slice(0, 10)).toEqual(asked.slice(0, 10));
      expect(places[10]).toBe(colleague);
      // The others come in their order: their rank falls as their number grows.
      expect(places.slice(11)).toEqual(asked.slice(10));
    });

    test("nor does an import by a service key, which is not refused, and is counted for each member apart from their own acts", async () => {
      await surfaces.settings({ acts_per_hour: 5 });
      const imported: string[] = [];
      for (let n = 0; n < 25; n += 1) imported.push((await create(service)).id);
      const own = (await create(memberSession("rita"))).id;
      const places = await placesInChannel(surfaces, [...imported, own]);
      expect(places.indexOf(own)).toBe(10);
    });

    test("mails and messages to people have the rank of their cause", async () => {
      await rowsOf(
        db,
        "insert into capacity.acts select 'acme', 'rita', clock_timestamp() from generate_series(1, 160)",
      );
      const ranks = async (id: string): Promise<number[]> =>
        (
          await rowsOf<{ priority: number }>(
            db,
            "select distinct n.priority from notify.notifications n where n.about = $1 order by 1",
            [id],
          )
        ).map(({ priority }) => priority);
      const [few, many] = [await create(memberSession("rob"), "rob"), await create(memberSession("rita"))];
      expect(await ranks(many.id)).toEqual((await ranks(few.id)).map((rank) => Math.max(0, rank - 5)));
    });
  });

  test("everything that members can call is counted, or notifies only themselves", async () => {
    const exposed = await rowsOf<{ name: string }>(
      db,
      `select distinct p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = 'public' and p.provolatile = 'v' and has_function_privilege('authenticated', p.oid, 'execute')`,
    );
    expect(exposed.map(({ name }) => name).toSorted()).toEqual([...counted, ...Object.keys(uncounted)].toSorted());
  });

  describe("is refused", () => {
    const acts: readonly [string, (id: string) => [string, unknown[]]][] = [
      ["a request", () => [createCall, createValues({ customer })]],
      [
        "a cancellation",
        (id) => ["select public.decide_capacity_request($1, 'CANCEL_APPROVED', 'rita', $2)", [id, { reason: "so" }]],
      ],
      [
        "an event",
        (id) => [
          "select public.apply_capacity_event($1, 'CANCEL_APPROVED', 'user', 'rita', $2)",
          [id, { reason: "so" }],
        ],
      ],
      ["a nudge", (id) => ["select public.nudge_capacity_request($1)", [id]]],
      ["a note", (id) => ["select public.note_capacity_request($1, 'Please.')", [id]]],
      ["another address", (id) => ["select public.set_customer_address($1, 'other@initech.example')", [id]]],
    ];

    test.each(acts)("%s beyond what one member may do in an hour, and nothing is written", async (_what, call) => {
      const { id } = await surfaces.create({ customer });
      await surfaces.settings({ acts_per_hour: 2 });
      const rita = memberSession("rita");
      await as(rita, "select public.note_capacity_request($1, 'One.')", [id]);
      await as(rita, "select public.note_capacity_request($1, 'Two.')", [id]);
      const before = await surfaces.size();
      const refusal = await refusalOf(as(rita, ...call(id)));
      expect(refusal).toMatchObject(refusedAs("too_soon"));
      expect(refusal.message).toContain("2 changes within an hour");
      expect(refusal.detail).toMatch(/^too_soon: again in 3[56]\d\d seconds$/);
      expect(refusal.hint).toContain("--acts-per-hour");
      expect(await surfaces.size()).toEqual(before);
      // Others continue, and so does the member when the hour has passed.
      await as(memberSession("cora"), "select public.note_capacity_request($1, 'Mine.')", [id]);
      await rowsOf(db, "update capacity.acts set at = at - interval '1 hour'");
      await as(rita, ...call(id));
    });

    test("in Slack too, and nobody is where there is no limit", async () => {
      const accounts = `select a.account, count(*)::integer as acts from capacity.acts a group by 1 order by 1`;
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      await rowsOf(db, "delete from capacity.acts");
      await rowsOf(
        db,
        "select capacity.ask_customer(r, row('user', 'cora', 'slack')::capacity.actor, 'it@initech.example') from capacity.requests r where r.id = $1",
        [id],
      );
      expect(await rowsOf(db, accounts)).toEqual([{ account: "cora", acts: 1 }]);
      await surfaces.settings({ acts_per_hour: 1 });
      const decline = `select inbound.decide(m, $1, 'CUSTOMER_DECLINED', 'so', true) from directory.members m
                        where m.workspace_id = 'acme' and m.id = 'cora'`;
      expect(await refusalOf(rowsOf(db, decline, [id]))).toMatchObject(refusedAs("too_soon"));
      await surfaces.settings({ acts_per_hour: null });
      await rowsOf(db, decline, [id]);
    });

    test("except for what was decided before: a repeat is answered, and is not counted", async () => {
      const { id } = await surfaces.create({ customer });
      await surfaces.settings({ acts_per_hour: 1 });
      const approve =
        "select d ->> 'repeated' as repeated from public.decide_capacity_request($1, 'COMMERCIAL_APPROVED', 'cora') d";
      const cora = memberSession("cora");
      expect(await as(cora, approve, [id])).toEqual({ repeated: "false" });
      expect(await as(cora, approve, [id])).toEqual({ repeated: "true" });
    });

    test("counts older than an hour are removed by the timers", async () => {
      await rowsOf(
        db,
        `insert into capacity.acts values ('acme', 'rita', clock_timestamp() - interval '61 minutes'),
                                          ('acme', 'rita', clock_timestamp() - interval '59 minutes')`,
      );
      await rowsOf(db, "select public.run_capacity_request_timers()");
      expect(await oneOf(db, "select count(*)::integer as n from capacity.acts")).toEqual({ n: 1 });
    });
  });
});

/** The order in which a relay posts these requests' first messages, where the channel lets one pass at a time. */
async function placesInChannel(surfaces: Surfaces, ids: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  const slack = slackRail({
    send: (message) => {
      const id = (message.key ?? "").replace(/:slack$/, "");
      if (ids.includes(id) && !seen.includes(id)) seen.push(id);
      return { kind: "delivered", response: { ts: "1700000000.000001" } };
    },
  });
  // A gap too short to wait for, and still one message per claim.
  await surfaces.relay(slack, linearRail(), ...others());
  await rowsOf(surfaces.superuser, "update outbox.limits set min_interval_ms = 1 where name = 'slack:'");
  await until(
    async () => seen.length,
    (count) => count === ids.length,
    "all requests to be posted",
  );
  return seen;
}
