/** What happens at the same time or twice: two releases, a release and another change, outcomes that come together. */
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { waitUntilBlocked } from "../../helpers/database.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { makeDue, somebody, stages, tell } from "./harness.ts";

const workflow = await startWorkflow(18);
const db = workflow.superuser;
const release = "select * from notify.release()";

async function connect(): Promise<Client> {
  const client = await workflow.db.superuser.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Starts a call that another session blocks, and returns once it waits. */
async function waits<T>(client: Client, work: (client: Client) => Promise<T>): Promise<{ done: Promise<T> }> {
  const { pid } = await oneOf<{ pid: number }>(client, "select pg_backend_pid() as pid");
  const done = work(client);
  done.catch(() => undefined);
  await waitUntilBlocked(workflow.db.superuser.pool, pid);
  return { done };
}

const held = (member: string, title = "A title") =>
  tell(db, member, { category: "reviews", channels: ["email"], about: "CR-1", title });
const messagesTo = async (member: string): Promise<string[]> => {
  const sent = "select outbox_id as id from notify.deliveries where recipient = $1 order by released_at";
  return (await rowsOf<{ id: string }>(db, sent, [member])).map(({ id }) => id);
};
const ended = (outboxId: string | undefined, code: string) =>
  rowsOf(db, "insert into notify.endings (outbox_id, code) values ($1, $2)", [outboxId, code]);
const giveUp = (outboxId: string | undefined) =>
  rowsOf(
    db,
    `with given as (delete from outbox.pending_unordered where outbox_id = $1 returning *)
     insert into outbox.dead (outbox_id, stream_id, lines, tries, priority, uncertain, parked, error_code)
     select outbox_id, stream_id, lines, 1, priority, false, false, 'webhook_gone' from given`,
    [outboxId],
  );
/** A person with their own webhook, whom the bot does not know. */
async function webhooked(): Promise<string> {
  const member = await somebody(db);
  const own = "insert into notify.people (workspace_id, member_id, slack_webhook) values ('acme', $1, true)";
  await rowsOf(db, own, [member]);
  return member;
}

test("a digest that is made while another release sends today's waits for its own hour", async () => {
  const member = await somebody(db);
  await rowsOf(
    db,
    `insert into notify.preferences (workspace_id, whose, category, channel, choice)
     values ('acme', 'member:' || $1, 'general', 'email', 'digest')`,
    [member],
  );
  await tell(db, member, { title: "Today's", channels: ["email"] });
  // A more important person, whom the second release waits for after it has read what is due.
  await rowsOf(db, "update directory.members set email = 'glen@globex.example' where id = 'glen'");
  const important =
    "select notify.tell(notify.recipient('globex', 'member', 'glen'), $1, notify.content('reviews', 'T', 'B', '{email}', 9, 'CR-9'))";
  await rowsOf(db, important, [randomUUID()]);
  for (const each of [member, "glen"]) await makeDue(db, each);
  await rowsOf(db, "delete from notify.address_keys where workspace_id = 'globex'");
  const [blocker, second] = [await connect(), await connect()];
  await blocker.query("begin");
  await blocker.query("insert into notify.address_keys values ('globex', sha256('x'))");
  const { done } = await waits(second, (client) => client.query(release));
  await rowsOf(db, release);
  await tell(db, member, { title: "Tomorrow's", channels: ["email"] });
  await blocker.query("commit");
  await done;
  expect(await stages(db, member)).toEqual(["Today's email waiting", "Tomorrow's email held"]);
});

test("a release whose first rows are all taken by another continues after them, and says what is left", async () => {
  const [first, behind] = [await somebody(db), await somebody(db)];
  for (let each = 0; each < 6; each += 1)
    await tell(db, first, { category: "reviews", channels: ["email"], about: `${each}` });
  await makeDue(db, first);
  const other = await connect();
  await other.query("begin");
  await other.query(release);
  await held(behind);
  await makeDue(db, behind);
  // More than each workspace's own turn comes before it.
  await rowsOf(db, "update notify.parts set priority = 0 where recipient = $1", [behind]);
  expect(await oneOf(db, "select released from notify.release(2)")).toEqual({ released: 1 });
  const nothing = "select released, more, next_due <= clock_timestamp() as left from notify.release(2)";
  expect(await oneOf(db, nothing)).toEqual({ released: 0, more: false, left: true });
  await other.query("rollback");
  expect(await oneOf(db, nothing)).toEqual({ released: 5, more: true, left: true });
});

test("a login that holds the advisory lock of a person's name holds up nothing of theirs", async () => {
  const member = await somebody(db);
  const hostile = await workflow.db.as("headroom_ingest").connect();
  onTestFinished(() => hostile.end());
  for (const name of [`notify:acme/member/${member}/email`, "notify.follow_endings", "capacity.problems:acme"])
    await hostile.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
  await held(member);
  await makeDue(db, member);
  await rowsOf(db, release);
  expect(await messagesTo(member)).toHaveLength(1);
});

test("what is erased while it is being released is found by the erasure", async () => {
  const member = await somebody(db);
  const about = randomUUID();
  await tell(db, member, { category: "reviews", channels: ["email"], about });
  await makeDue(db, member);
  const [releases, erases] = [await connect(), await connect()];
  await releases.query("begin");
  await releases.query(release);
  const { done } = await waits(erases, (client) =>
    oneOf(client, "select (notify.erase_about($1, clock_timestamp(), '{}')).to_members as ids", [about]),
  );
  await releases.query("commit");
  expect(await done).toEqual({ ids: await messagesTo(member) });
});

test("what is erased first is not released", async () => {
  const member = await somebody(db);
  const about = randomUUID();
  await tell(db, member, { category: "reviews", channels: ["email"], about });
  await makeDue(db, member);
  const erases = await connect();
  await erases.query("begin");
  await erases.query("select notify.erase_about($1, clock_timestamp(), '{}')", [about]);
  await rowsOf(db, release);
  await erases.query("commit");
  await rowsOf(db, release);
  expect(await stages(db, member)).toEqual(["(erased) email erased"]);
});

test("a member who is removed while something is being released to them gets nothing, and nothing of it is kept", async () => {
  const member = await somebody(db);
  await held(member, "Secret");
  await makeDue(db, member);
  const [releases, removes] = [await connect(), await connect()];
  await releases.query("begin");
  await releases.query(release);
  const { done } = await waits(removes, (client) =>
    client.query("select directory.remove_member('acme', $1)", [member]),
  );
  await releases.query("commit");
  await done;
  const kept = "select payload from outbox.payloads where outbox_id = any ($1)";
  expect(await rowsOf(db, kept, [await messagesTo(member)])).toEqual([{ payload: null }]);
  expect(await stages(db, member)).toEqual(["(erased) email given_up"]);
});

test("a notification to a member who is being removed is erased afterwards", async () => {
  const member = await somebody(db);
  const tells = await connect();
  await tells.query("begin");
  await tell(tells, member, { title: "Secret" });
  await rowsOf(db, "select directory.remove_member('acme', $1)", [member]);
  await tells.query("commit");
  expect(await stages(db, member)).toEqual(["Secret in-app shown"]);
  await rowsOf(db, "select notify.forget_old(1000)");
  expect(await stages(db, member)).toEqual(["(erased) in-app shown"]);
});

test("sending again what a release is just sending again is refused, and it is sent once", async () => {
  const member = await webhooked();
  const told = await tell(db, member, { channels: ["slack"] });
  const [sent] = await messagesTo(member);
  await giveUp(sent);
  await ended(sent, "webhook_gone");
  await rowsOf(db, "update directory.members set slack_user_id = 'U0' || upper(left(md5(id), 8)) where id = $1", [
    member,
  ]);
  const [releases, operator] = [await connect(), await connect()];
  await releases.query("begin");
  await releases.query(release);
  const { done } = await waits(operator, (client) =>
    codeOf(client.query("select notify.resend($1, null, 'otto')", [told])),
  );
  await releases.query("commit");
  expect(await done).toBe("conflict");
  expect(await messagesTo(member)).toHaveLength(2);
  const waiting = "select outbox_id as id from outbox.pending_unordered where outbox_id = any ($1)";
  expect(await rowsOf(db, waiting, [await messagesTo(member)])).toHaveLength(1);
});

test("two messages that find the same webhook gone are both sent by another channel, and the person is told once", async () => {
  const member = await webhooked();
  for (const title of ["One", "Two"]) await tell(db, member, { title, channels: ["slack"] });
  for (const id of await messagesTo(member)) {
    await giveUp(id);
    await ended(id, "webhook_gone");
  }
  await rowsOf(db, release);
  expect(await stages(db, member)).toEqual([
    "One email waiting",
    "Two email waiting",
    "Your Slack webhook no longer works in-app shown",
  ]);
  // Retrying the dead letters does not send them a second time.
  expect(await rowsOf(db, "select from outbox.dead")).toEqual([]);
});

test("what waits for a webhook that its owner removes is sent another way", async () => {
  const member = await webhooked();
  await tell(db, member, { channels: ["slack"] });
  const [sent] = await messagesTo(member);
  await rowsOf(db, "update notify.people set slack_webhook = false where member_id = $1", [member]);
  await giveUp(sent);
  await ended(sent, "webhook_unknown");
  await rowsOf(db, release);
  expect(await stages(db, member)).toEqual(["A title email waiting"]);
});

test("a dead letter that an operator has already retried is not sent another way as well", async () => {
  const member = await webhooked();
  await tell(db, member, { channels: ["slack"] });
  const [sent] = await messagesTo(member);
  await ended(sent, "webhook_gone");
  // It is in flight: a relay has claimed it.
  await rowsOf(db, "delete from outbox.pending_unordered where outbox_id = $1", [sent]);
  await rowsOf(db, release);
  expect(await messagesTo(member)).toEqual([sent]);
});

test("a webhook that is set while the previous one is found to be gone stays", async () => {
  const member = await webhooked();
  await tell(db, member, { channels: ["slack"] });
  const [sent] = await messagesTo(member);
  await giveUp(sent);
  await ended(sent, "webhook_gone");
  const [owner, releases] = [await connect(), await connect()];
  await owner.query("begin");
  const set = "update notify.people set slack_webhook = true, updated_at = clock_timestamp() where member_id = $1";
  await owner.query(set, [member]);
  const { done } = await waits(releases, (client) => client.query(release));
  await owner.query("commit");
  await done;
  const kept = "select slack_webhook from notify.people where member_id = $1";
  expect(await oneOf(db, kept, [member])).toEqual({ slack_webhook: true });
  expect(await stages(db, member)).toEqual(["A title slack waiting"]);
});

test("an outcome that cannot be handled stops nothing, and is tried again later", async () => {
  const [member, other] = [await webhooked(), await somebody(db)];
  await tell(db, member, { channels: ["slack"] });
  await held(other);
  await makeDue(db, other);
  const [sent] = await messagesTo(member);
  await giveUp(sent);
  await ended(sent, "webhook_gone");
  await rowsOf(
    db,
    `create function notify.refuse_for_test() returns trigger language plpgsql as $$ begin raise 'planted'; end $$;
     create trigger refuse_for_test before update on notify.people for each row execute function notify.refuse_for_test()`,
  );
  try {
    await rowsOf(db, release);
  } finally {
    await rowsOf(db, "drop trigger refuse_for_test on notify.people; drop function notify.refuse_for_test()");
  }
  expect(await stages(db, other)).toEqual(["A title email waiting"]);
  await rowsOf(db, release);
  expect(await stages(db, member)).toEqual(["A title slack given_up"]);
  await rowsOf(db, "update notify.endings set ended_at = now()");
  await rowsOf(db, release);
  expect(await stages(db, member)).toContain("A title email waiting");
});

test("a release waits for no other that handles the same address, and leaves the outcomes to it", async () => {
  const [member, other] = [await somebody(db), await somebody(db)];
  for (const title of ["One", "Two"]) await tell(db, member, { title, channels: ["email"] });
  const [one, two] = await messagesTo(member);
  await ended(one, "recipient_refused");
  const first = await connect();
  await first.query("begin");
  await first.query(release);
  await ended(two, "recipient_refused");
  await held(other);
  await makeDue(db, other);
  const second = await connect();
  await second.query("set lock_timeout = '3s'");
  await second.query(release);
  expect(await stages(db, other)).toEqual(["A title email waiting"]);
  await first.query("commit");
  await rowsOf(db, release);
  // The second was still waiting to be sent when the first reported that the address is wrong.
  expect((await stages(db, member)).filter((line) => line.includes("email"))).toEqual([
    "One email bounced",
    "Two email suppressed",
  ]);
});

test("a bounce that is reported again does not undo the lifting of the address, whichever mail it was first seen by", async () => {
  const member = await somebody(db);
  for (const title of ["One", "Two"]) await tell(db, member, { title, channels: ["email"] });
  const bounce = "select notify.record_outcome($1, 'bounced', 'bounced', 'no such user') as news";
  const address = `${member}@acme.example`;
  const [one, two] = await messagesTo(member);
  for (const id of [one, two]) expect(await oneOf(db, bounce, [id])).toEqual({ news: "learnt" });
  await rowsOf(db, "select notify.lift_suppression('acme', $1, 'ada')", [address]);
  for (const id of [one, two]) expect(await oneOf(db, bounce, [id])).toEqual({ news: "known" });
  const suppressed = "select notify.is_suppressed('acme', notify.address_mark('acme', $1)) as suppressed";
  expect(await oneOf(db, suppressed, [address])).toEqual({ suppressed: false });
});
