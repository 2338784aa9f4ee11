/** Messages that were given up are reported to operators: once, together, of their own workspace, and never because of such a report. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../harness.ts";
import { startTroubled } from "./troubled.ts";

describe.each(POSTGRES_VERSIONS)("dead letters on PostgreSQL %i", async (version) => {
  const troubled = await startTroubled(version);
  const { db, engine } = troubled;
  const noted = async (): Promise<number> =>
    (await oneOf<{ n: number }>(db, "select count(*)::integer as n from capacity.problems")).n;

  test.each([
    ["with order is refused", true, "rejected", "no_such_channel"],
    ["without order is refused", false, "rejected", "no_such_channel"],
    ["with order is tried as often as it may be", true, "retry", "http_503"],
    ["without order is tried as often as it may be", false, "retry", "http_503"],
  ] as const)("operators are told when a row %s", async (_title, ordered, outcome, code) => {
    const stream = await engine.stream({ ordered, maxTries: 1 });
    await troubled.enqueue(stream);
    await troubled.end(stream, outcome, code);
    await troubled.release();
    expect(await troubled.told("dead_letters")).toEqual([
      {
        to: "otto",
        title: "A message could not be delivered: sure",
        body: expect.stringContaining(`• stream ${stream.name} by sure: 1, last error ${code}`) as string,
      },
    ]);
  });

  test.each([
    ["with order", true],
    ["without order", false],
  ])("operators are told when the relay died each time while it sent a row %s", async (_title, ordered) => {
    const stream = await engine.stream({ ordered, maxTries: 1 });
    await troubled.enqueue(stream);
    await engine.claimOne(stream);
    await engine.expireLeases(stream);
    await engine.reap();
    await troubled.release();
    expect(await troubled.told("dead_letters")).toMatchObject([
      { to: "otto", body: expect.stringContaining("last error tries_exhausted") as string },
    ]);
  });

  test("the first is reported immediately, and those within the next ten minutes are one message after that", async () => {
    const [slack, mail] = [await engine.stream(), await engine.stream({ ordered: false })];
    const dies = async (stream: typeof slack, rail: string, code: string): Promise<void> => {
      await troubled.enqueue(stream, { rail });
      await troubled.end(stream, "rejected", code);
      await troubled.release();
    };
    await dies(slack, "slack", "not_in_channel");
    await dies(slack, "slack", "channel_not_found");
    await dies(mail, "email", "smtp_5xx");
    await dies(slack, "slack", "is_archived");
    expect(await troubled.titles("dead_letters")).toEqual(["otto: A message could not be delivered: slack"]);
    await troubled.tenMinutesPass();
    await troubled.release();
    await troubled.release();
    expect(await troubled.titles("dead_letters")).toEqual([
      "otto: A message could not be delivered: slack",
      "otto: 3 messages could not be delivered: slack 2, email 1",
    ]);
    const [, second] = await troubled.told("dead_letters");
    expect(second?.body).toContain(
      `• stream ${slack.name} by slack: 2, last error is_archived\n• stream ${mail.name} by email: 1, last error smtp_5xx`,
    );
    expect(second?.body).toContain("headroom outbox dead");
    expect(await noted()).toBe(0);
  });

  test("messages that came too late, were given up by an operator, or belong to no workspace are not reported", async () => {
    for (const ordered of [true, false]) {
      const stream = await engine.stream({ ordered });
      await troubled.enqueue(stream, { expires: "-1 s" });
      expect(await engine.claim(stream)).toEqual([]);
      const skipped = await troubled.enqueue(stream);
      await engine.skip([skipped]);
      await engine.enqueue(stream);
      await troubled.enqueue(stream, { tenant: "nobody-known" });
      await troubled.end(stream, "rejected", "no");
      await engine.kill(stream).catch(() => undefined);
    }
    await troubled.release();
    expect(await rowsOf(db, "select from notify.notifications")).toEqual([]);
    expect(await noted()).toBe(0);
  });

  test("each workspace gets its own rows alone, and admins get them where there is no operator", async () => {
    const stream = await engine.stream({ ordered: false });
    await troubled.enqueue(stream);
    for (let each = 0; each < 4; each += 1) await troubled.enqueue(stream, { tenant: "globex", rail: "slack" });
    await troubled.end(stream, "rejected", "no");
    await rowsOf(db, "update directory.members set roles = '{requester}' where workspace_id = 'acme' and id = 'otto'");
    await troubled.release();
    await rowsOf(db, "update directory.members set roles = '{operator}' where workspace_id = 'acme' and id = 'otto'");
    expect(await troubled.titles("dead_letters")).toEqual(["ada: A message could not be delivered: sure"]);
    expect(await troubled.titles("dead_letters", "globex")).toEqual([
      "glen: 4 messages could not be delivered: slack 4",
    ]);
  });

  test("while mail is down, the reports to operators do not grow", async () => {
    const people = {
      id: (await oneOf<{ id: number }>(db, "select outbox.stream_id('people') as id")).id,
      name: "people",
    };
    await rowsOf(db, "update outbox.streams set max_tries = 1 where name = 'people'");
    await rowsOf(db, "delete from outbox.pending_unordered");
    await rowsOf(
      db,
      "select notify.tell(notify.recipient('acme', 'member', 'rita'), 'once', notify.content('general', 'A title', 'A body.', '{email}'))",
    );
    for (let round = 0; round < 8; round += 1) {
      await troubled.letPass("email:acme", people);
      await troubled.end(people, "retry", "connection_refused");
      await troubled.tenMinutesPass();
      await troubled.release();
    }
    expect(await troubled.titles("dead_letters")).toEqual(["otto: A message could not be delivered: email"]);
    expect((await troubled.titles("circuit_open")).length).toBeLessThanOrEqual(1);
    expect(await noted()).toBe(0);
    expect(await rowsOf(db, "select from outbox.pending_unordered")).toEqual([]);
    await rowsOf(db, "update outbox.streams set max_tries = 5 where name = 'people'");
  });

  test("an address that takes no mail is reported as that, and not as a dead letter too", async () => {
    const people = {
      id: (await oneOf<{ id: number }>(db, "select outbox.stream_id('people') as id")).id,
      name: "people",
    };
    await rowsOf(db, "select outbox.clear_destination('email:acme')");
    await rowsOf(
      db,
      "select notify.tell(notify.recipient('acme', 'member', 'rita'), 'gone', notify.content('general', 'A title', 'A body.', '{email}'))",
    );
    await troubled.end(people, "rejected", "recipient_refused");
    await troubled.release();
    expect(await troubled.titles("dead_letters")).toEqual([]);
    expect(await troubled.titles("mail-failed")).toContain("ada: Mail to Rita does not arrive");
    await rowsOf(db, "update notify.suppressions set lifted_at = now(), lifted_by = 'test'");
  });

  test("two releases at the same time report once, and a relay waits for neither", async () => {
    const stream = await engine.stream({ ordered: false });
    const dies = async (): Promise<void> => {
      await troubled.enqueue(stream);
      await troubled.end(stream, "rejected", "no");
    };
    await dies();
    const [first, second] = [
      await troubled.workflow.db.superuser.connect(),
      await troubled.workflow.db.superuser.connect(),
    ];
    await first.query("begin");
    await first.query("select * from notify.release()");
    // The first has reported and not committed: a second release skips it, and a relay that settles does not wait.
    await second.query("set statement_timeout = '5s'");
    await second.query("select * from notify.release()");
    await dies();
    await first.query("commit");
    await second.query("select * from notify.release()");
    await Promise.all([first.end(), second.end()]);
    expect(await troubled.titles("dead_letters")).toEqual(["otto: A message could not be delivered: sure"]);
    expect(await noted()).toBe(1);
    await troubled.tenMinutesPass();
    await troubled.release();
    expect(await troubled.told("dead_letters")).toHaveLength(2);
  });

  test("problems that cannot be reported hold up no message, and are reported when they can be", async () => {
    const stream = await engine.stream();
    await troubled.enqueue(stream);
    await troubled.end(stream, "rejected", "no");
    await rowsOf(
      db,
      "alter table capacity.problems_told add constraint broken check (cause <> 'dead_letters') not valid",
    );
    await rowsOf(
      db,
      `select notify.tell(notify.recipient('acme', 'member', 'rita'), 'held',
                          notify.content('general', 'A title', 'A body.', '{email}', p_about => 'x'))`,
    );
    await rowsOf(db, "update notify.parts set due_at = now() where state = 'held'");
    await troubled.release();
    expect(await rowsOf(db, "select from notify.parts where state = 'held'")).toEqual([]);
    await rowsOf(db, "alter table capacity.problems_told drop constraint broken");
    await troubled.release();
    expect(await troubled.titles("dead_letters")).toEqual(["otto: A message could not be delivered: sure"]);
  });
});
