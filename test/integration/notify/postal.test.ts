/** The fate of mails sent through Postal: its signed reports, in any order and any number, and their consequences. */
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startChannels } from "./channels.ts";

const stage = await startChannels("postal");
const db = stage.workflow.superuser;

/** A separate customer for each test, so that no suppression affects another's. */
const somebody = (): { kind: "customer"; user: string; address: string; category: string } => ({
  kind: "customer",
  user: randomUUID(),
  address: `${randomUUID()}@customer.example`,
  category: "progress",
});

const rowOf = (id: string): Promise<{ outbox_id: string }> =>
  oneOf(
    db,
    "select d.outbox_id from notify.deliveries d join notify.parts p on p.delivery_id = d.id where p.notification_id = $1",
    [id],
  );

/** Reports it as Postal would, to the function behind the route. */
async function report(event: string, payload: object, uuid = randomUUID()): Promise<string> {
  const { n } = await oneOf<{ n: string }>(
    db,
    "select count(*) as n from inbound.receipts where provider = 'postal' and receipt_id = $1",
    [uuid],
  );
  await rowsOf(db, "select inbound.record_receipt('postal', $1, $2, $3)", [uuid, event, { payload }]);
  if (Number(n) > 0) return "repeated";
  const outcome = "select outcome from inbound.receipts where provider = 'postal' and receipt_id = $1";
  return (await oneOf<{ outcome: string }>(db, outcome, [uuid])).outcome;
}

describe("a mail by Postal", () => {
  test("is sent, then delivered when Postal says so", async () => {
    const id = await stage.tell(somebody());
    await stage.reaches(id, "delivered");
  });

  test("that bounces later has bounced, suppresses its address there, and admins are told once", async () => {
    const who = somebody();
    const id = await stage.tell({ ...who, title: "Your capacity" });
    await stage.reaches(id, "delivered");
    const [mail] = stage.sandbox.mail.list(who.address);
    stage.sandbox.mail.report(mail?.id ?? "", "MessageBounced");
    await stage.reaches(id, "bounced");
    expect(await stage.stageOf(await stage.tell({ ...who, user: randomUUID() }))).toBe("suppressed");
    // The hash is the workspace's own: another workspace's mail is still sent.
    const elsewhere = await stage.tell({ ...who, workspace: "globex" });
    await stage.reaches(elsewhere, "delivered");
    expect(await stage.toldBecause("mail-failed")).toEqual([
      { recipient: "ada", title: "Mail to a customer does not arrive" },
    ]);
    const texts = JSON.stringify(await rowsOf(db, "select title, body from notify.notifications"));
    expect(texts).not.toContain(who.address);
    await rowsOf(db, "select notify.lift_suppression('acme', $1, 'ada')", [who.address.toUpperCase()]);
    const again = await stage.tell({ ...who, user: randomUUID() });
    await stage.reaches(again, "delivered");
  });

  test("to an address that does not work fails immediately, and the member finds it in their inbox", async () => {
    await rowsOf(db, "update directory.members set email = 'rob@bounces.example' where id = 'rob'");
    const id = await stage.tell({ user: "rob" });
    await stage.reaches(id, "bounced");
    const told = await stage.toldBecause("mail-failed");
    expect(told).toContainEqual({ recipient: "ada", title: "Mail to Rob does not arrive" });
    expect(told).toContainEqual({ recipient: "rob", title: "Mails to you do not arrive" });
    // The first by mail or Slack too, the second within ten minutes in the inbox only.
    const ways = `select cardinality(channels) as n from notify.notifications
                   where cause = 'mail-failed' and recipient = 'ada' order by created_at`;
    expect(await rowsOf(db, ways)).toEqual([{ n: 2 }, { n: 1 }]);
  });
});

type Report = readonly [event: string, more?: object];
const gone = { reply: "550 5.1.1" };

describe("reports of Postal", () => {
  test.each<[string, readonly Report[], string, boolean]>([
    ["sent", [["MessageSent"]], "delivered", false],
    ["delayed, then sent", [["MessageDelayed"], ["MessageSent"]], "delivered", false],
    ["sent, then back", [["MessageSent"], ["MessageBounced"]], "bounced", true],
    ["back, then sent, out of order", [["MessageBounced"], ["MessageSent"]], "bounced", true],
    ["failed, no such mailbox", [["MessageDeliveryFailed", gone]], "bounced", true],
    ["failed, mailbox closed", [["MessageDeliveryFailed", { reply: "550-5.2.1" }]], "bounced", true],
    ["failed, by a policy", [["MessageDeliveryFailed", { reply: "550 5.7.1" }]], "bounced", false],
    ["failed, mailbox full", [["MessageDeliveryFailed", { reply: "552 5.2.2" }]], "bounced", false],
    ["failed, nobody knows why", [["MessageDeliveryFailed"]], "bounced", false],
    ["failed, and later back", [["MessageDeliveryFailed"], ["MessageBounced"]], "bounced", true],
    ["held for no reason that we know", [["MessageHeld"]], "given-nothing", false],
    ["held because it bounced before", [["MessageHeld", { suppressed: true }]], "bounced", true],
    ["clicked and loaded", [["MessageLinkClicked"], ["MessageLoaded"]], "given-nothing", false],
    ["something new", [["MessageExploded"]], "given-nothing", false],
  ])("%s", async (_what, reports, stageName, suppressed) => {
    const who = somebody();
    const { delivery } = await oneOf<{ delivery: string }>(
      db,
      `insert into notify.deliveries (workspace_id, recipient_kind, recipient, channel, priority, outbox_id, address_mark)
       values ('acme', 'customer', $1, 'email', 5, gen_random_uuid(), notify.address_mark('acme', $2)) returning outbox_id as delivery`,
      [who.user, who.address],
    );
    for (const [event, more] of reports) {
      const message = { id: 1, tag: delivery, message_id: "1@postal" };
      await report(event, event === "MessageBounced" ? { original_message: message } : { message, ...more });
    }
    const { outcome, open } = await oneOf<{ outcome: string | null; open: boolean }>(
      db,
      "select d.outcome, notify.is_suppressed('acme', d.address_mark) as open from notify.deliveries d where d.outbox_id = $1",
      [delivery],
    );
    expect([outcome ?? "given-nothing", open]).toEqual([stageName, suppressed]);
  });

  test("repeated change nothing, not even what was lifted meanwhile", async () => {
    const who = somebody();
    const id = await stage.tell(who);
    await stage.reaches(id, "delivered");
    const { outbox_id: tag } = await rowOf(id);
    const uuid = randomUUID();
    expect(await report("MessageBounced", { original_message: { tag } }, uuid)).toBe("done");
    await rowsOf(db, "select notify.lift_suppression('acme', $1, 'ada')", [who.address]);
    expect(await report("MessageBounced", { original_message: { tag } }, uuid)).toBe("repeated");
    expect(await report("MessageBounced", { original_message: { tag } })).toBe("ignored");
    expect(await stage.stageOf(await stage.tell({ ...who, user: randomUUID() }))).not.toBe("suppressed");
  });

  test.each<[string, object]>([
    ["no message", {}],
    ["another sender's tag", { message: { tag: "newsletter" } }],
    ["a row that is not ours", { message: { tag: randomUUID() } }],
    ["an id in the middle of something", { message: { tag: `x${randomUUID()}` } }],
    ["an id that is not at the beginning of a Message-ID", { message: { message_id: `x-${randomUUID()}@a.example` } }],
    ["a tag that tries to be SQL", { message: { tag: "' or true --" } }],
  ])("of %s are ignored", async (_what, payload) => {
    expect(await report("MessageBounced", { original_message: null, ...payload })).toBe("ignored");
  });

  test("find a mail that Postal accepted by SMTP by its Message-ID", async () => {
    const id = await stage.tell(somebody());
    const { outbox_id: row } = await rowOf(id);
    await stage.reaches(id, "delivered");
    const message = { message_id: `${row}@headroom.example` };
    expect(await report("MessageBounced", { original_message: message })).toBe("done");
  });

  test("with a forged signature are refused and leave nothing", async () => {
    const id = await stage.tell(somebody());
    await stage.reaches(id, "delivered");
    const { outbox_id: tag } = await rowOf(id);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const body = JSON.stringify({
      event: "MessageBounced",
      uuid: randomUUID(),
      payload: { original_message: { tag } },
    });
    const signatures = [sign("sha256", Buffer.from(body), privateKey).toString("base64"), "AAAA", ""];
    for (const signature of signatures) {
      const headers = { "content-type": "application/json", "x-postal-signature-256": signature };
      const answer = await fetch(`${stage.gateway.url}/webhooks/postal`, { method: "POST", body, headers });
      expect(answer.status).toBe(401);
    }
    expect(await stage.stageOf(id)).toBe("delivered");
  });
});
