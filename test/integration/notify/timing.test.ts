/** When people are notified: by their own clock, across both changes of daylight saving, with related notifications in one message. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

/** Zone, quiet from and until, the time, and when the person may be notified. */
const quiet: readonly (readonly [string, string, string, string, string, string])[] = [
  [
    "in the evening, before they begin",
    "Europe/Berlin",
    "22:00",
    "07:00",
    "2026-06-01T19:59:00Z",
    "2026-06-01T19:59:00Z",
  ],
  ["at the very beginning", "Europe/Berlin", "22:00", "07:00", "2026-06-01T20:00:00Z", "2026-06-02T05:00:00Z"],
  ["after midnight", "Europe/Berlin", "22:00", "07:00", "2026-06-01T23:30:00Z", "2026-06-02T05:00:00Z"],
  ["at their end", "Europe/Berlin", "22:00", "07:00", "2026-06-02T05:00:00Z", "2026-06-02T05:00:00Z"],
  [
    "the night when an hour is skipped",
    "Europe/Berlin",
    "22:00",
    "07:00",
    "2026-03-28T22:00:00Z",
    "2026-03-29T05:00:00Z",
  ],
  [
    "the night when an hour comes twice",
    "Europe/Berlin",
    "22:00",
    "07:00",
    "2026-10-24T21:00:00Z",
    "2026-10-25T06:00:00Z",
  ],
  ["an end that the clock skips", "Europe/Berlin", "22:00", "02:30", "2026-03-28T23:00:00Z", "2026-03-29T01:30:00Z"],
  [
    "an end that the clock shows twice",
    "Europe/Berlin",
    "22:00",
    "02:30",
    "2026-10-24T23:00:00Z",
    "2026-10-25T01:30:00Z",
  ],
  ["during the day", "America/New_York", "12:00", "13:00", "2026-07-01T16:30:00Z", "2026-07-01T17:00:00Z"],
  ["half an hour off", "Asia/Kolkata", "22:00", "07:00", "2026-07-01T17:00:00Z", "2026-07-02T01:30:00Z"],
];

interface Told {
  readonly category?: string;
  readonly about?: string;
  readonly title?: string;
  readonly priority?: number;
  readonly expires?: string;
}

describe.each(POSTGRES_VERSIONS)("the timing of notifications on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  let seen = 0;
  /** A separate member for each test, with an address. */
  const somebody = async (settings = ""): Promise<string> => {
    const id = `p${(seen += 1)}-${randomUUID().slice(0, 8)}`;
    await rowsOf(
      db,
      "insert into directory.members (workspace_id, id, display_name, email) values ('acme', $1, 'Somebody', $1 || '@acme.example')",
      [id],
    );
    if (settings !== "") await rowsOf(db, `insert into notify.people (workspace_id, member_id, ${settings}`, [id]);
    return id;
  };
  const tell = async (member: string, { category = "reviews", about = "", ...more }: Told): Promise<string> => {
    const { id } = await oneOf<{ id: string }>(
      db,
      `select notify.tell(notify.recipient('acme', 'member', $1), $2, jsonb_populate_record(
                notify.content($3, $4, 'The body.', $5, $6, nullif($8, '')), jsonb_build_object('expires_at', $7::timestamptz))) as id`,
      [
        member,
        randomUUID(),
        category,
        more.title ?? "A title",
        ["email"],
        more.priority ?? 5,
        more.expires ?? null,
        about,
      ],
    );
    return id;
  };
  const stages = async (member: string): Promise<string[]> =>
    (
      await rowsOf<{ line: string }>(
        db,
        `select concat_ws(' ', n.title, s.stage) as line from notify.part_stages s join notify.notifications n on n.id = s.notification_id
          where n.recipient = $1 order by n.created_at, n.id`,
        [member],
      )
    ).map(({ line }) => line);
  const subjects = async (member: string): Promise<string[]> =>
    (
      await rowsOf<{ subject: string }>(
        db,
        `select r.payload ->> 'subject' as subject from notify.deliveries d join outbox.rows r on r.outbox_id = d.outbox_id
          where d.recipient = $1 order by d.released_at, d.id`,
        [member],
      )
    ).map(({ subject }) => subject);
  const makeDue = async (member: string): Promise<void> => {
    await rowsOf(db, "update notify.parts set due_at = now() where recipient = $1 and state = 'held'", [member]);
    await rowsOf(db, "select public.notification_dispatcher()");
  };

  test.each(quiet)("quiet hours: %s", async (_, zone, from, until, at, expected) => {
    const { told } = await oneOf<{ told: Date }>(
      db,
      "select notify.after_quiet(row('acme', 'x', $1, $2, $3, '09:00', false, now())::notify.people, $4) as told",
      [zone, from, until, at],
    );
    expect(told.toISOString()).toBe(new Date(expected).toISOString());
  });

  test("what comes in quiet hours is held, not lost; critical notifications pass", async () => {
    const member = await somebody(
      "time_zone, quiet_from, quiet_until) values ('acme', $1, 'UTC', (now() at time zone 'UTC')::time - interval '1 hour', (now() at time zone 'UTC')::time + interval '2 hours')",
    );
    await tell(member, { title: "Later" });
    await tell(member, { title: "Now", category: "operations" });
    await rowsOf(db, "select public.notification_dispatcher()");
    expect(await stages(member)).toEqual(["Later held", "Now waiting"]);
    await makeDue(member);
    expect(await stages(member)).toEqual(["Later held", "Now waiting"]);
    // The night has passed.
    await rowsOf(db, "update notify.people set quiet_until = quiet_from + interval '1 minute' where member_id = $1", [
      member,
    ]);
    await makeDue(member);
    expect(await subjects(member)).toEqual(["Now", "Later"]);
  });

  test.each([
    ["at once", "on", "interval '30 minutes'"],
    ["in a digest", "digest", "interval '30 minutes'"],
    ["in a digest whose hour is later than its end", "digest", "interval '-1 minute'"],
  ])(
    "what expires before quiet hours end, in %s, is not sent during them and ends as expired; critical notifications pass",
    async (_what, choice, digestIn) => {
      const member = await somebody(
        `time_zone, quiet_from, quiet_until, digest_at) values ('acme', $1, 'UTC', (now() at time zone 'UTC')::time - interval '1 hour',
           (now() at time zone 'UTC')::time + interval '2 hours', (now() at time zone 'UTC')::time + ${digestIn}`.concat(
          ")",
        ),
      );
      await rowsOf(
        db,
        "insert into notify.preferences (workspace_id, whose, category, channel, choice) values ('acme', 'member:' || $1, 'reviews', 'email', $2)",
        [member, choice],
      );
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      await tell(member, { title: "Short", expires });
      await tell(member, { title: "Critical", category: "operations", expires });
      await rowsOf(db, "select public.notification_dispatcher()");
      expect(await stages(member)).toEqual(["Short held", "Critical waiting"]);
      await makeDue(member);
      expect(await stages(member)).toEqual(["Short held", "Critical waiting"]);
      const due = "select due_at = expires_at as ends from notify.parts where recipient = $1 and state = 'held'";
      expect(await rowsOf(db, due, [member])).toEqual([{ ends: true }]);
      // An hour later, still in quiet hours.
      await rowsOf(db, "update notify.notifications set expires_at = now() where recipient = $1 and title = 'Short'", [
        member,
      ]);
      await makeDue(member);
      expect(await stages(member)).toEqual(["Short expired", "Critical waiting"]);
      expect(await subjects(member)).toEqual(["Critical"]);
    },
  );

  test("a burst about one thing is one message, the most important first; another thing is another message", async () => {
    const member = await somebody();
    await tell(member, { about: "CR-1", title: "First" });
    await tell(member, { about: "CR-1", title: "Important", priority: 9 });
    await tell(member, { about: "CR-2", title: "Other" });
    await tell(member, { title: "Alone" });
    expect(await subjects(member)).toEqual(["Alone"]);
    await makeDue(member);
    expect((await subjects(member)).toSorted()).toEqual(["Alone", "Important (and 1 more)", "Other"]);
  });

  test("a digest is one mail of everything chosen for it, of any kind, and of nothing else", async () => {
    const member = await somebody();
    await rowsOf(
      db,
      `insert into notify.preferences (workspace_id, whose, category, channel, choice)
       select 'acme', 'member:' || $1, c, 'email', 'digest' from unnest(array['reviews', 'requests']) c`,
      [member],
    );
    await tell(member, { about: "CR-1", title: "A review" });
    await tell(member, { about: "CR-2", title: "A step", category: "requests" });
    await tell(member, { title: "Important", priority: 9 });
    await tell(member, { title: "Alone", category: "general" });
    expect(await stages(member)).toEqual(["A review held", "A step held", "Important held", "Alone waiting"]);
    await makeDue(member);
    expect(await subjects(member)).toEqual(["Alone", "Important (and 2 more)"]);
    const { text } = await oneOf<{ text: string }>(
      db,
      `select r.payload ->> 'text' as text from notify.deliveries d join outbox.rows r on r.outbox_id = d.outbox_id
        where d.recipient = $1 order by d.released_at desc limit 1`,
      [member],
    );
    expect(text.match(/^(?:A review|A step|Important|Alone)$/gm)).toEqual(["Important", "A review", "A step"]);
  });

  test("among what is due the most important goes out first, held and merged alike, and keeps its rank in the outbox", async () => {
    const member = await somebody();
    await tell(member, { about: "CR-1", title: "Low", priority: 1 });
    await tell(member, { about: "CR-2", title: "Low too", priority: 2 });
    await tell(member, { about: "CR-3", title: "High", priority: 8 });
    await tell(member, { about: "CR-2", title: "Highest", priority: 9 });
    await makeDue(member);
    expect(await subjects(member)).toEqual(["Highest (and 1 more)", "High", "Low"]);
    const ranks = `select p.priority from notify.deliveries d join outbox.pending_unordered p on p.outbox_id = d.outbox_id
                    where d.recipient = $1 order by d.released_at`;
    expect(await rowsOf(db, ranks, [member])).toEqual([{ priority: 9 }, { priority: 8 }, { priority: 1 }]);
  });

  test("what would expire by then is sent immediately; what has expired is not sent any more", async () => {
    const member = await somebody(
      "time_zone, digest_at) values ('acme', $1, 'UTC', (now() at time zone 'UTC')::time - interval '1 minute')",
    );
    await rowsOf(
      db,
      "insert into notify.preferences (workspace_id, whose, category, channel, choice) values ('acme', 'member:' || $1, 'reviews', 'email', 'digest')",
      [member],
    );
    await tell(member, { title: "Urgent", expires: new Date(Date.now() + 3_600_000).toISOString() });
    await tell(member, { title: "Digested" });
    await tell(member, { title: "Too late" });
    expect(await stages(member)).toEqual(["Urgent waiting", "Digested held", "Too late held"]);
    await rowsOf(db, "update notify.notifications set expires_at = now() where recipient = $1 and title = 'Too late'", [
      member,
    ]);
    await makeDue(member);
    expect(await stages(member)).toEqual(["Urgent waiting", "Digested waiting", "Too late expired"]);
    expect(await subjects(member)).toEqual(["Urgent", "Digested"]);
  });

  test("an address that bounced gets nothing until the suppression is lifted", async () => {
    const member = await somebody();
    await rowsOf(
      db,
      "select notify.suppress('acme', notify.address_mark('acme', $1 || '@ACME.example'), 'bounced', 'no such user')",
      [member],
    );
    await tell(member, { title: "Lost" });
    expect(await stages(member)).toEqual(["Lost suppressed"]);
    expect(
      await oneOf(db, "select notify.lift_suppression('acme', $1 || '@acme.example', 'ada') as lifted", [member]),
    ).toEqual({ lifted: true });
    await tell(member, { title: "Again" });
    expect(await stages(member)).toEqual(["Lost suppressed", "Again waiting"]);
  });
});
