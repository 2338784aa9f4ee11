/** Notifying people: once per key and person, by the channels that they chose, when they want it. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

interface Part {
  readonly channel: string;
  readonly stage: string;
}

describe.each(POSTGRES_VERSIONS)("notifications on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const notify = async (input: {
    user?: string;
    key?: string;
    title?: string;
    body?: string;
    url?: string | null;
    channels?: string[];
    priority?: number;
    expires?: string | null;
    workspace?: string;
  }): Promise<string> => {
    const { id } = await oneOf<{ id: string }>(db, "select public.notify($1, $2, $3, $4, $5, $6, $7, $8, $9) as id", [
      input.workspace ?? "acme",
      input.user ?? "rita",
      input.key ?? randomUUID(),
      input.title ?? "A title",
      input.body ?? "A body.",
      input.url ?? null,
      input.channels ?? ["in-app"],
      input.priority ?? 5,
      input.expires ?? null,
    ]);
    return id;
  };
  const parts = (id: string): Promise<Part[]> =>
    rowsOf<Part>(db, "select channel, stage from notify.part_stages where notification_id = $1 order by channel", [id]);
  const status = async (id: string): Promise<string> =>
    (await oneOf<{ status: string }>(db, "select status from public.notification_outbox where id = $1", [id])).status;

  test("in-app is the default: it is delivered in the transaction of the notification", async () => {
    const id = await notify({});
    expect(await parts(id)).toEqual([{ channel: "in-app", stage: "shown" }]);
    expect(await status(id)).toBe("delivered");
    const row =
      "select priority, channels, expires_at > now() + interval '29 days' as a_month from public.notification_outbox where id = $1";
    expect(await oneOf(db, row, [id])).toEqual({ priority: 5, channels: ["in-app"], a_month: true });
  });

  test("fifty at the same time with one key are one notification; the same key for another person is separate", async () => {
    const key = randomUUID();
    await rowsOf(
      db,
      "update directory.members set email = 'ada@acme.example' where workspace_id = 'acme' and id = 'ada'",
    );
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => notify({ key, channels: ["in-app", "email"], user: "ada" })),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await notify({ key, user: "otto" })).not.toBe(ids[0]);
    const rows =
      "select count(*)::integer as n from outbox.rows r join notify.deliveries d on d.outbox_id = r.outbox_id join notify.parts p on p.delivery_id = d.id where p.notification_id = $1";
    expect(await oneOf(db, rows, [ids[0]])).toEqual({ n: 1 });
  });

  test("an account's uuid names the member that it signs in as, in their workspace only", async () => {
    const account = randomUUID();
    await rowsOf(
      db,
      `insert into directory.identities (issuer, subject, workspace_id, member_id)
       values ('https://project.supabase.co/auth/v1', $1, 'acme', 'rita')`,
      [account],
    );
    const [key, recipient] = [randomUUID(), "select user_id from public.notification_outbox where id = $1"];
    const id = await notify({ user: account, key });
    expect(await oneOf(db, recipient, [id])).toEqual({ user_id: "rita" });
    expect(await notify({ user: "rita", key })).toBe(id);
    expect(await codeOf(notify({ user: account, workspace: "globex" }))).toBe("not_found");
  });

  test("each channel is a separate message, and an unreachable one says so", async () => {
    await rowsOf(db, "update directory.members set email = null where workspace_id = 'acme' and id = 'vera'");
    const id = await notify({ user: "vera", channels: ["in-app", "email"] });
    expect(await parts(id)).toEqual([
      { channel: "email", stage: "no_address" },
      { channel: "in-app", stage: "shown" },
    ]);
    expect(await status(id)).toBe("delivered");
  });

  test("a message that cannot be made is dropped and reported; its cause and other notifications continue", async () => {
    await rowsOf(db, "update directory.members set email = id || '@acme.example' where workspace_id = 'acme'");
    const original = (
      await oneOf<{ source: string }>(
        db,
        "select pg_get_functiondef('notify.message_by_email(notify.notifications[],text,text)'::regprocedure) as source",
      )
    ).source;
    await rowsOf(
      db,
      original.replace(
        "select w.* into v_workspace",
        "if v_first.title = 'Broken' then raise exception 'planted'; end if; $&",
      ),
    );
    try {
      const broken = await notify({ title: "Broken", channels: ["in-app", "email"] });
      const whole = await notify({ channels: ["in-app", "email"] });
      const held = (key: string, title: string): Promise<{ id: string }> =>
        oneOf(
          db,
          `select notify.tell(notify.recipient('acme', 'member', 'rita'), $1,
                              notify.content('reviews', $2, 'b', '{email}', p_about => $1)) as id`,
          [key, title],
        );
      const [brokenHeld, wholeHeld] = [await held(randomUUID(), "Broken"), await held(randomUUID(), "Whole")];
      await rowsOf(db, "update notify.parts set due_at = clock_timestamp() where state = 'held'");
      await rowsOf(db, "select * from notify.release()");
      expect(await parts(broken)).toEqual([
        { channel: "email", stage: "unsendable" },
        { channel: "in-app", stage: "shown" },
      ]);
      expect(await parts(whole)).toContainEqual({ channel: "email", stage: "waiting" });
      expect(await parts(brokenHeld.id)).toEqual([{ channel: "email", stage: "unsendable" }]);
      expect(await status(brokenHeld.id)).toBe("failed");
      expect(await parts(wholeHeld.id)).toEqual([{ channel: "email", stage: "waiting" }]);
    } finally {
      await rowsOf(db, original);
    }
  });

  test("an insert into notification_outbox is a call of notify, and returns the existing id", async () => {
    const key = randomUUID();
    const insert = `insert into public.notification_outbox (workspace_id, user_id, idempotency_key, title, body)
                    values ('acme', 'rita', $1, 'T', 'B') returning id`;
    const first = await oneOf<{ id: string }>(db, insert, [key]);
    expect(await oneOf<{ id: string }>(db, insert, [key])).toEqual(first);
    for (const change of [
      "update public.notification_outbox set title = 'x'",
      "delete from public.notification_outbox",
    ]) {
      expect(await codeOf(rowsOf(db, `${change} where id = $1`, [first.id]))).toBe("not_allowed");
    }
  });

  test.each([
    "https://example.org",
    "http://127.0.0.1:8400/inbox?about=CR-1#top",
    "https://[::1]:8400/",
    "https://bücher.example/@rita?to=a@b.example",
    `https://example.org/${"x".repeat(1_980)}`,
  ])("accepts the address %s", async (url) => {
    const id = await notify({ url });
    expect(await oneOf(db, "select action_url from public.notification_outbox where id = $1", [id])).toEqual({
      action_url: url,
    });
  });

  test.each<[string, Parameters<typeof notify>[0]]>([
    ["nobody", { user: "nobody" }],
    ["another workspace's member", { user: "gwen", workspace: "acme" }],
    ["an empty title", { title: " " }],
    ["an invisible title", { title: "\u3164\u2800\u00ad" }],
    ["a title of two lines", { title: "a\nBcc: x@y.example" }],
    ["a huge title", { title: "x".repeat(201) }],
    ["an empty body", { body: "\u200b" }],
    ["a huge body", { body: "x".repeat(20_001) }],
    ["an invisible title", { title: "\u3164" }],
    ["an invisible body", { body: "\u2800\n\u00ad" }],
    ["an address that is a script", { url: "javascript:alert(1)" }],
    ["an address that pretends to be another's", { url: "https://bank.example@evil.example/" }],
    ["an address with a password", { url: "https://rita:secret@example.org/" }],
    ["an address that changes the writing direction", { url: "https://example.org/\u202egpj.exe" }],
    ["an address without a host", { url: "https://?x" }],
    ["an address that is a placeholder", { url: "https://example.org/{{confirmation_link}}" }],
    ["no channel", { channels: [] }],
    ["a channel that does not exist", { channels: ["pigeon"] }],
    ["a priority beyond 9", { priority: 10 }],
    ["a time in the past", { expires: "2020-01-01" }],
    ["a key with a line break", { key: "a\nb" }],
  ])("refuses %s, and writes nothing", async (_, input) => {
    const before = await oneOf(db, "select count(*) from notify.notifications");
    expect(await codeOf(notify(input))).toMatch(/^(invalid_input|not_found)$/);
    expect(await oneOf(db, "select count(*) from notify.notifications")).toEqual(before);
  });
});
