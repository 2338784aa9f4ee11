/**
 * Side effects: which ones an event has, that each becomes exactly one outbox row in the event's own transaction, and what a relay does
 * with these rows.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/contract/rail.ts";
import { assertInvariants } from "../../../helpers/invariants.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import type { EventType } from "../reduce/model.ts";
import { customer, linearRail, sentFor, slackRail, startSurfaces, surfaceRail, type Surfaces } from "../surfaces.ts";
import { oneOf, refusalOf, refusedAs, rowsOf } from "../harness.ts";

/** What each event named, in the order of the events. */
async function named(surfaces: Surfaces, id: string): Promise<[EventType, string[]][]> {
  const events = await surfaces.events<{ event_type: EventType; effects: string[] }>(id);
  return events.map(({ event_type, effects }) => [event_type, effects]);
}

const step = ["slack:root-update", "slack:reply", "linear:comment", "linear:state"];

const by = (renderer: string) => ({ path: [], renderer });

describe.each(POSTGRES_VERSIONS)("side effects on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);

  describe("which an event has", () => {
    test("a whole life: a root and an issue, then updates and comments, and mail when the customer is asked and at the end", async () => {
      const { id } = await surfaces.create({ customer });
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await surfaces.apply(id, "CUSTOMER_CONFIRMED", "customer:customer");
      await surfaces.apply(id, "PROVISIONING_COMPLETE", "system:job");
      expect(await named(surfaces, id)).toEqual([
        ["REQUEST_SUBMITTED", ["slack:root", "linear:issue", "tell:asked", "event:file:billing"]],
        ["COMMERCIAL_APPROVED", [...step, "tell:requester", "event:file:billing"]],
        [
          "TECH_REVIEW_APPROVED",
          [...step, "tell:requester", "tell:no_longer_asked", "tell:customer", "event:file:billing"],
        ],
        ["CUSTOMER_CONFIRMED", [...step, "tell:requester", "tell:customer", "event:file:billing"]],
        ["PROVISIONING_COMPLETE", [...step, "tell:requester", "tell:customer", "event:file:billing"]],
      ]);
      const told = new Set(
        (await surfaces.toldOf(id)).map(
          ({ instruction, audience }) => `${instruction} tell:${audience.replace(/:.*/, "")}`,
        ),
      );
      const made = (await surfaces.effects(id))
        .filter(({ instruction, to }) => instruction.startsWith(`${id}#`) && to === null)
        .map(({ instruction, effect }) => `${instruction} ${effect}`)
        .concat([...told].filter((name) => name.startsWith(`${id}#`)));
      const wanted = (await named(surfaces, id)).flatMap(([, effects], index) =>
        effects.map((effect) => `${id}#${index + 1} ${effect}`),
      );
      expect(made.toSorted()).toEqual(wanted.toSorted());
      expect(await surfaces.unmatched()).toEqual([]);
    });

    const endings: readonly [string, EventType, string, boolean][] = [
      ["expiry", "CUSTOMER_CONFIRMATION_TIMEOUT", "cron:clock", true],
      ["a decline", "CUSTOMER_DECLINED", "cora", true],
      ["a cancellation", "CANCEL_APPROVED", "rita", true],
    ];
    test.each(endings)("after %s a customer who had been asked is told", async (_, event, actor, told) => {
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      if (event === "CUSTOMER_CONFIRMATION_TIMEOUT") await surfaces.passDeadline(id);
      await surfaces.apply(id, event, actor);
      expect((await named(surfaces, id)).at(-1)?.[1].includes("tell:customer")).toBe(told);
    });

    test.each([
      ["COMMERCIAL_REJECTED", "cora", ["tell:requester", "tell:no_longer_asked"]],
      ["TECH_REVIEW_REJECTED", "tess", ["tell:requester", "tell:no_longer_asked"]],
      ["CANCEL_APPROVED", "rita", ["tell:no_longer_asked"]],
    ] as const)(
      "%s during the review is not reported to a customer who was never asked",
      async (event, actor, told) => {
        const { id } = await surfaces.create({ customer });
        await surfaces.apply(id, event, actor);
        expect((await named(surfaces, id)).at(-1)).toEqual([event, [...step, ...told, "event:file:billing"]]);
      },
    );

    test("an endorsement is announced like an approval, and asks the authority", async () => {
      await rowsOf(
        surfaces.superuser,
        `insert into capacity.policies (workspace_id, id, kind, step, min_monthly_cost_usd, approver_role)
         values ('acme', 'large', 'escalation', 'commercial', 100000, 'vp')`,
      );
      const { id } = await surfaces.create({ cost: 200_000 });
      await rowsOf(surfaces.superuser, "delete from capacity.policies where workspace_id = 'acme'");
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
      expect((await named(surfaces, id)).at(-1)).toEqual([
        "COMMERCIAL_APPROVED",
        [...step, "tell:requester", "tell:asked", "event:file:billing"],
      ]);
      const reply = await surfaces.effect(`${id}#2`, "slack:reply");
      expect(reply.payload["text"]).toBe(
        `${id}: Cora endorsed the request; the approval of a higher authority is needed.`,
      );
      expect(JSON.stringify(reply.payload["blocks"])).toContain("<@U0VERA>");
      const root = await surfaces.rootNow(id);
      expect(root).toContain("endorsed by Cora; waiting for <@U0VERA>");
      expect(root).toContain("commercial_approve");
    });

    test("approvals by a rule are side effects of their own, and leave no button for decided reviews", async () => {
      await rowsOf(
        surfaces.superuser,
        `insert into capacity.policies (workspace_id, id, kind, step, max_quantity) values ('acme', 'small', 'auto_approval', 'commercial', 1)`,
      );
      const { id } = await surfaces.create({ quantity: 1 });
      await rowsOf(surfaces.superuser, "delete from capacity.policies where workspace_id = 'acme'");
      expect((await named(surfaces, id)).map(([event]) => event)).toEqual(["REQUEST_SUBMITTED", "COMMERCIAL_APPROVED"]);
      const root = JSON.stringify((await surfaces.effect(`${id}#1`, "slack:root")).payload);
      expect(root).not.toContain("commercial_approve");
      expect(root).toContain("tech_approve");
      expect((await surfaces.effect(`${id}#2`, "slack:reply")).payload["text"]).toBe(
        `${id}: The commercial review was approved by a rule. The technical review is still open.`,
      );
    });

    test("a request may name a channel of its own", async () => {
      await surfaces.settings({ slack_channel_id: null });
      const { id } = await surfaces.create({ channel: "C0PRIVATE" });
      expect(await surfaces.effect(`${id}#1`, "slack:root")).toMatchObject({
        destination: "slack:C0PRIVATE",
        payload: { channel: "C0PRIVATE" },
      });
    });

    test("Linear switched on while a request is under way is not used for it; switched off, it is no longer used", async () => {
      await surfaces.settings({ linear_team_id: null });
      const before = await surfaces.create();
      await surfaces.settings({ linear_team_id: "team-1" });
      const after = await surfaces.create();
      await surfaces.apply(before.id, "COMMERCIAL_APPROVED", "cora");
      expect((await named(surfaces, before.id)).at(-1)?.[1]).toEqual([
        "slack:root-update",
        "slack:reply",
        "tell:requester",
        "event:file:billing",
      ]);
      await surfaces.settings({ linear_team_id: null });
      await surfaces.apply(after.id, "COMMERCIAL_APPROVED", "cora");
      expect((await named(surfaces, after.id)).at(-1)?.[1]).toEqual([
        "slack:root-update",
        "slack:reply",
        "tell:requester",
        "event:file:billing",
      ]);
    });

    test.each([
      ["no address", { name: "Initech" }],
      ["an address that is no text", { email: { at: "x@y.example" } }],
      ["several addresses", { email: "a@x.example, b@x.example" }],
      ["a second header", { email: "a@x.example\nBcc: b@x.example" }],
      ["no domain", { email: "somebody" }],
      ["an address of a thousand characters", { email: `${"a".repeat(1_000)}@x.example` }],
    ])("a customer with %s gets no mail", async (_, given) => {
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer: given });
      expect((await named(surfaces, id)).at(-1)?.[1].filter((effect) => effect.startsWith("email"))).toEqual([]);
    });

    test("endpoints receive what they subscribed to, while they are enabled", async () => {
      await rowsOf(surfaces.superuser, "delete from capacity.subscriptions");
      await rowsOf(
        surfaces.superuser,
        `insert into capacity.subscriptions (workspace_id, endpoint, event_types, enabled) values
           ('acme', 'all', null, true), ('acme', 'off', null, false), ('globex', 'elsewhere', null, true),
           ('acme', 'ends', '{COMMERCIAL_REJECTED,PROVISIONING_COMPLETE}', true)`,
      );
      const { id } = await surfaces.create();
      await surfaces.apply(id, "COMMERCIAL_REJECTED", "cora");
      const events = (await named(surfaces, id)).map(([, effects]) =>
        effects.filter((name) => name.startsWith("event:")),
      );
      expect(events).toEqual([["event:file:all"], ["event:file:all", "event:file:ends"]]);
      expect(await surfaces.effect(`${id}#2`, "event:file:ends")).toMatchObject({
        rail: "webhook",
        key: `file:ends:${id}`,
        destination: "file:ends",
      });
    });
  });

  describe("the rows", () => {
    test("keep one lane per request and surface, capture the root, and bind it afterwards", async () => {
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      const thread = { capture: "slack_thread_ts", required: true };
      const issue = { capture: "linear_issue_id", required: true };
      const plain = { coalesce_key: null, expires_at: null, captures: null, binds: null };
      const slack = { ...plain, rail: "slack", key: `${id}:slack`, destination: "slack:C0CAPACITY" };
      const linear = { ...plain, rail: "linear", key: `${id}:linear`, destination: "linear" };
      expect(await surfaces.effect(`${id}#1`, "slack:root")).toMatchObject({
        ...slack,
        binds: [by("slack-root")],
        captures: { slack_thread_ts: ["ts"] },
        coalesce_key: "root",
      });
      expect(await surfaces.effect(`${id}#2`, "slack:reply")).toMatchObject({
        ...slack,
        binds: [by("slack-reply"), { path: ["thread_ts"], ...thread }],
      });
      expect(await surfaces.effect(`${id}#2`, "slack:root-update")).toMatchObject({
        ...slack,
        binds: [by("slack-root"), { path: ["ts"], ...thread }],
        coalesce_key: "root",
        payload: { request: id },
      });
      expect(await surfaces.effect(`${id}#1`, "linear:issue")).toMatchObject({
        ...linear,
        binds: [by("linear-issue")],
        captures: { linear_issue_id: ["issue", "id"] },
        coalesce_key: "state",
      });
      expect(await surfaces.effect(`${id}#2`, "linear:comment")).toMatchObject({
        ...linear,
        binds: [by("linear-comment"), { path: ["input", "issueId"], ...issue }],
      });
      expect(await surfaces.effect(`${id}#2`, "linear:state")).toMatchObject({
        ...linear,
        binds: [
          { path: [], renderer: "linear-issue" },
          { path: ["id"], ...issue },
        ],
        coalesce_key: "state",
        payload: { request: id },
      });
      const { next_deadline_at } = await surfaces.row(id);
      const mail = await surfaces.effect(`${id}#3`, "tell:customer");
      expect(mail).toMatchObject({
        ...plain,
        rail: "email",
        key: null,
        destination: "email:acme",
        expires_at: next_deadline_at,
      });
    });

    test("a mail holds the id of the customer's token, and not the token", async () => {
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      const { token } = await oneOf<{ token: string }>(
        surfaces.superuser,
        "select confirmation_token_id as token from capacity.requests where id = $1",
        [id],
      );
      const { payload } = await surfaces.effect(`${id}#3`, "tell:customer");
      expect(payload).toMatchObject({
        to: customer.email,
        confirmation_token_id: token,
        confirmation_base_url: "https://capacity.acme.example",
      });
      expect(payload["text"]).toContain("{{confirmation_link}}");
      expect(payload["html"]).toContain('href="{{confirmation_link}}"');
    });

    test("a rolled-back event leaves none", async () => {
      const { id } = await surfaces.create();
      const client = await surfaces.db.superuser.connect();
      await client.query("begin");
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora", { client });
      await client.query("rollback");
      expect((await surfaces.effects(id)).map(({ instruction }) => instruction)).toEqual([
        `${id}#1`,
        `${id}#1`,
        `${id}#1`,
      ]);
      expect(await surfaces.unmatched()).toEqual([]);
    });

    test("an event whose message cannot be enqueued is not recorded either", async () => {
      const { id } = await surfaces.create();
      const client = await surfaces.db.superuser.connect();
      await client.query("begin");
      await client.query("delete from outbox.stream_rails");
      await client.query("delete from outbox.rails where name = 'slack'");
      expect(await refusalOf(surfaces.apply(id, "COMMERCIAL_APPROVED", "cora", { client }))).toMatchObject(
        refusedAs("unknown_rail"),
      );
      await client.query("rollback");
      expect((await surfaces.row(id)).version).toBe(1);
    });

    test("a Slack channel is limited to one message a second on first use, and keeps a limit that was set", async () => {
      const limitOf = async (name: string): Promise<number> => {
        const found = await oneOf<{ min_interval_ms: number }>(
          surfaces.superuser,
          "select min_interval_ms from outbox.destination_status() where destination = $1",
          [name],
        );
        return found.min_interval_ms;
      };
      await surfaces.create({ channel: "C0FIRST" });
      expect(await limitOf("slack:C0FIRST")).toBe(1_000);
      await rowsOf(surfaces.superuser, "select outbox.limit_destination('slack:C0FIRST', 50)");
      await surfaces.create({ channel: "C0FIRST" });
      expect(await limitOf("slack:C0FIRST")).toBe(50);
    });
  });

  describe("delivered by a relay", () => {
    test("the root's thread is captured, replies are bound to it and follow it, and both ids appear in the request", async () => {
      const [slack, linear, email, webhook] = [slackRail(), linearRail(), surfaceRail("email"), surfaceRail("webhook")];
      const { id } = await surfaces.create({ customer });
      await surfaces.relay(slack, linear, email, webhook);
      await surfaces.untilFinished(id);
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
      await surfaces.untilFinished(id);
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await surfaces.untilFinished(id);
      const calls = sentFor<Record<string, Json>>(slack, id);
      expect(calls.map(({ method, ts, thread_ts }) => [method, ts, thread_ts])).toEqual([
        ["chat.postMessage", undefined, undefined],
        ["chat.update", "1700000000.000001", undefined],
        ["chat.postMessage", undefined, "1700000000.000001"],
        ["chat.update", "1700000000.000001", undefined],
        ["chat.postMessage", undefined, "1700000000.000001"],
      ]);
      const operations = sentFor<{ operation: string; id?: string; input: Record<string, Json> }>(linear, id);
      const issue = operations[0]?.input["id"];
      expect(issue).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(
        operations.slice(1).map(({ operation, id: target, input }) => [operation, target ?? input["issueId"]]),
      ).toEqual([
        ["commentCreate", issue],
        ["issueUpdate", issue],
        ["commentCreate", issue],
        ["issueUpdate", issue],
      ]);
      expect(sentFor(email, id)).toHaveLength(1);
      expect(sentFor<{ type: string }>(webhook, id).map(({ type }) => type)).toEqual([
        "capacity.request.request_submitted",
        "capacity.request.commercial_approved",
        "capacity.request.tech_review_approved",
      ]);
      const seen = await oneOf<object>(
        surfaces.superuser,
        "select slack_thread_ts, linear_issue_id, last_notified_at is not null as notified from public.capacity_requests where id = $1",
        [id],
      );
      expect(seen).toEqual({ slack_thread_ts: "1700000000.000001", linear_issue_id: issue, notified: true });
    });

    test("a dead Slack root stops neither the mail nor the webhook, and its replies are not sent without a thread", async () => {
      const slack = slackRail({ send: () => ({ kind: "rejected", code: "channel_not_found", reason: "gone" }) });
      const [linear, email, webhook] = [linearRail(), surfaceRail("email"), surfaceRail("webhook")];
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      await surfaces.relay(slack, linear, email, webhook);
      await surfaces.untilFinished(id);
      expect(sentFor<{ method: string }>(slack, id).map(({ method }) => method)).toEqual(["chat.postMessage"]);
      expect(sentFor(email, id)).toHaveLength(1);
      expect(sentFor(webhook, id)).toHaveLength(3);
      const dead = await rowsOf(
        surfaces.superuser,
        `select m.idempotency_key as effect, d.error_code from outbox.dead d join outbox.payloads m on m.outbox_id = d.outbox_id
          where starts_with(m.instruction_id, $1) order by m.seq`,
        [id],
      );
      expect(dead).toEqual([
        { effect: "slack:root", error_code: "channel_not_found" },
        { effect: "slack:reply", error_code: "binding_missing" },
        { effect: "slack:reply", error_code: "binding_missing" },
      ]);
    });

    test("a confirmation mail that could not be sent before the deadline is not sent at all", async () => {
      const email = surfaceRail("email");
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      await rowsOf(
        surfaces.superuser,
        `update outbox.pending_unordered set expires_at = now() - interval '1 second'
          where outbox_id = (select outbox_id from notify.deliveries where recipient_kind = 'customer' and recipient = $1)`,
        [id],
      );
      await surfaces.relay(slackRail(), linearRail(), email, surfaceRail("webhook"));
      await surfaces.untilFinished(id);
      expect(sentFor(email, id)).toEqual([]);
    });

    test("the engine's invariants hold after all of it, and no row is without its event", async () => {
      const client = await surfaces.db.superuser.connect();
      await assertInvariants(client);
      expect(await surfaces.unmatched()).toEqual([]);
    });
  });
});
