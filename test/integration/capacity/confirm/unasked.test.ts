/**
 * The customer who is not asked: the address or the workspace's public address is missing, or the mail was given up. Every surface says so
 * to the people who can fix it, and the remedies work: another address, sending the link again. Time passes by making rows older.
 */
import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { anonymous, memberSession, overHttp } from "../gateway.ts";
import { customer, linearRail, sentFor, slackRail, startSurfaces, surfaceRail } from "../surfaces.ts";
import { age, deadlineIn, nothing, quiet } from "../timers/time.ts";
import { tracesOf } from "../traces.ts";
import { codeOf, oneOf, refusalOf, rowsOf, type RequestInput } from "../harness.ts";

const secret = "a secret for links, of 32 bytes or more";
const publicUrl = "https://capacity.acme.example";
const waiting = "CUSTOMER_CONFIRMATION_REQUIRED";

interface Asking {
  readonly repeated: boolean;
  readonly mailed: boolean;
  readonly next_link_at: string | null;
  readonly customer_unasked: string | null;
}

function tokenOf(id: string): string {
  const bytes = Buffer.from(id.replaceAll("-", ""), "hex");
  return Buffer.concat([bytes, createHmac("sha256", secret).update(bytes).digest()]).toString("base64url");
}

describe.each(POSTGRES_VERSIONS)("a customer who is not asked, on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const { db, superuser } = surfaces;
  const control = db.as("headroom_control").pool;

  beforeAll(async () => {
    await superuser.query(`alter database ${db.name} set headroom.secret_key = '0123456789abcdef0123456789abcdef'`);
    const client = await db.as("headroom_control").connect();
    await client.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", [secret]);
    await client.end();
  });

  const sweep = () => runTimers(db.as("headroom_executor").pool);
  const setAddress = async (id: string, email: string | null, actor = "cora"): Promise<Asking> =>
    (await oneOf<{ a: Asking }>(control, "select public.set_customer_address($1, $2, $3) as a", [id, email, actor])).a;
  const sendLink = async (id: string, actor = "cora"): Promise<Asking> =>
    (await oneOf<{ a: Asking }>(control, "select public.send_confirmation_link($1, $2) as a", [id, actor])).a;
  const unasked = async (id: string): Promise<string | null> =>
    (
      await oneOf<{ u: string | null }>(
        superuser,
        "select customer_unasked as u from public.capacity_requests where id = $1",
        [id],
      )
    ).u;
  const story = async (id: string) =>
    (
      await oneOf<{ s: { customer: { address: string | null; unasked: string | null; fixers: { id: string }[] } } }>(
        control,
        "select public.get_capacity_request($1) as s",
        [id],
      )
    ).s;
  const mailsOf = async (id: string) => (await surfaces.effects(id)).filter(({ effect }) => effect === "tell:customer");
  const lastReply = async (id: string) =>
    (await surfaces.effects(id)).findLast(({ effect }) => effect === "slack:reply")?.payload;
  /** Marks the last mail as given up by the relay. */
  const giveUp = async (id: string): Promise<void> => {
    const email = surfaceRail("email", {
      send: ({ payload }) =>
        JSON.stringify(payload).includes(id)
          ? { kind: "rejected", code: "refused", reason: "no such mailbox" }
          : { kind: "delivered" },
    });
    const relay = await surfaces.relay(slackRail(), linearRail(), email, surfaceRail("webhook"));
    await surfaces.untilFinished(id);
    await relay.stop();
  };

  describe("is reported", () => {
    test.each<[string, RequestInput, string | null, string, string]>([
      ["no address", {}, publicUrl, "no_address", "their e-mail address is not known"],
      ["an invalid address", { customer: { email: "a@x, b@x" } }, publicUrl, "bad_address", "address is invalid"],
      ["no public address", { customer }, null, "no_public_url", "no public address for their link"],
    ])("in the thread, the root, the row, the story and the list: %s", async (_what, input, url, code, words) => {
      await surfaces.settings({ public_url: url });
      const id = await surfaces.createIn(waiting, input);
      expect(await mailsOf(id)).toEqual([]);
      expect(await unasked(id)).toBe(code);
      const said = JSON.stringify(await lastReply(id));
      expect(said).toContain(`The customer has not been asked: `);
      expect(said).toContain(words);
      expect(said).not.toContain("The customer has until");
      expect(said).toContain("<@U0CORA>");
      expect(said.includes("<@U0ADA>")).toBe(code === "no_public_url");
      expect(said).toContain(
        code === "no_public_url" ? "headroom policy settings --public-url" : `/capacity address ${id}`,
      );
      const root = await surfaces.rootNow(id);
      expect(root).toContain("waiting for the customer, who has not been asked");
      expect(root.includes("Add the customer's address")).toBe(code !== "no_public_url");
      const { customer: told } = await story(id);
      expect(told.unasked).toBe(code);
      expect(told.fixers.map((member) => member.id)).toEqual(code === "no_public_url" ? ["ada", "cora"] : ["cora"]);
      const [listed] = await rowsOf(control, "select waits_on from capacity.list_requests('acme', $1, null, null, 1)", [
        [waiting],
      ]);
      expect(listed).toEqual({ waits_on: ["customer (not asked)"] });
      expect(await surfaces.unmatched()).toEqual([]);
      await surfaces.expectWhole([id]);
    });

    test("not where the mail is still being sent: then the customer has until the deadline", async () => {
      const id = await surfaces.createIn(waiting, { customer });
      expect(await unasked(id)).toBeNull();
      expect(JSON.stringify(await lastReply(id))).toContain("The customer has until");
      expect(await surfaces.rootNow(id)).not.toContain("not been asked");
      expect(await surfaces.rootNow(id)).toContain("Mail the link again");
    });

    test("at submission and in the preview, before anybody decides", async () => {
      const created = await oneOf<{ id: string; customer_unasked: string | null }>(
        superuser,
        "select * from public.create_capacity_request('rita', 'cora', 'infra', null, '32XL', 1, 'us-east-1', null, 30, p_workspace_id => 'acme')",
      );
      expect(created.customer_unasked).toBe("no_address");
      const preview = async (ref: object | null) =>
        (
          await oneOf<{ p: { customer_unasked: string | null } }>(
            superuser,
            `select public.preview_capacity_request('rita', 'cora', 'infra', '32XL', 1, 'us-east-1', p_workspace_id => 'acme',
                                                    p_customer_ref => $1) as p`,
            [ref === null ? null : JSON.stringify(ref)],
          )
        ).p.customer_unasked;
      expect(await preview(null)).toBe("no_address");
      expect(await preview({ email: 7 })).toBe("bad_address");
      expect(await preview(customer)).toBeNull();
      const decided = await oneOf<{ customer_unasked: string | null }>(
        superuser,
        "select * from public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')",
        [created.id],
      );
      expect(decided.customer_unasked).toBe("no_address");
    });

    test("by mail to the owner where there is no thread", async () => {
      await surfaces.settings({ slack_channel_id: null });
      await rowsOf(superuser, "update directory.members set email = 'cora@acme.example' where id = 'cora'");
      const id = await surfaces.createIn(waiting);
      await surfaces.release();
      await rowsOf(superuser, "update directory.members set email = null");
      const mail = await surfaces.effect(`${id}#3`, "tell:fixers", "cora");
      expect(mail.payload).toMatchObject({ to: "cora@acme.example" });
      expect(mail.payload["text"]).toContain("The customer has not been asked");
      expect(await surfaces.unmatched()).toEqual([]);
    });

    test("by the warning before the end and by the end itself", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn(waiting);
      await deadlineIn(surfaces, id, 20);
      expect(await sweep()).toEqual({ ...nothing, warned: 1 });
      const warning = JSON.stringify(await lastReply(id));
      expect(warning).toContain("The customer has not been asked");
      expect(warning).toContain("<@U0CORA>");
      await deadlineIn(surfaces, id, -1);
      expect(await sweep()).toEqual({ ...nothing, expired: 1 });
      expect((await lastReply(id))?.["text"]).toBe(
        `${id}: The customer was never asked: their e-mail address is not known. The request has expired.`,
      );
    });

    test("once when the mail was given up, with the owner mentioned, and again when the next one was", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn(waiting, { customer });
      await giveUp(id);
      expect(await unasked(id)).toBe("mail_failed");
      expect(await sweep()).toEqual({ ...nothing, unasked: 1 });
      expect(await sweep()).toEqual(nothing);
      const said = JSON.stringify(await lastReply(id));
      expect(said).toContain("the mail with their link was not delivered");
      expect(said).toContain("<@U0CORA>");
      expect(await surfaces.rootNow(id)).toContain("who has not been asked");

      await age(surfaces, id, 1);
      await rowsOf(superuser, "update outbox.dead set died_at = now() - interval '2 hours'");
      expect(await sweep()).toEqual(nothing);
      await rowsOf(
        superuser,
        "update capacity.requests set next_deadline_at = now() + interval '80 days' where id = $1",
        [id],
      );
      expect(await sendLink(id)).toMatchObject({ mailed: true, customer_unasked: null });
      expect(await unasked(id)).toBeNull();
      await giveUp(id);
      expect(await unasked(id)).toBe("mail_failed");
      expect(await sweep()).toEqual({ ...nothing, unasked: 1 });
      expect(await surfaces.unmatched()).toEqual([]);
    });
  });

  describe("an address", () => {
    test("that is added sends the link, is announced without being shown, and lets the customer answer", async () => {
      const id = await surfaces.createIn(waiting);
      expect(await setAddress(id, " buyer@initech.example ")).toMatchObject({
        repeated: false,
        mailed: true,
        customer_unasked: null,
      });
      const [mail] = await mailsOf(id);
      expect(mail).toMatchObject({ rail: "email", to: id, payload: { to: "buyer@initech.example" } });
      expect(mail?.payload["subject"]).toMatch(/^Please confirm/);
      expect(await lastReply(id)).toMatchObject({
        text: `${id}: Cora set the customer's e-mail address: the link is on its way, and a link that was mailed before no longer works.`,
      });
      expect(JSON.stringify((await surfaces.effects(id)).filter(({ rail }) => rail !== "email"))).not.toContain(
        "buyer@",
      );
      expect(await surfaces.rootNow(id)).not.toContain("not been asked");
      expect((await story(id)).customer).toMatchObject({ address: "buyer@initech.example", unasked: null });
      const token = tokenOf(mail?.payload["confirmation_token_id"] as string);
      await overHttp(db, anonymous, (client) => client.query("select public.decide_by_token($1, 'confirm')", [token]));
      expect((await surfaces.row(id)).state).toBe("PROVISIONING");
      expect(await rowsOf(superuser, "select * from capacity.verify_texts('', $1, 'acme')", [id])).toEqual([]);
      expect(await surfaces.unmatched()).toEqual([]);
      await surfaces.expectWhole([id]);
    });

    test("that replaces another ends the link that went there: it neither shows the offer nor is sent any more", async () => {
      const id = await surfaces.createIn(waiting, { customer });
      const [first] = await mailsOf(id);
      const old = first?.payload["confirmation_token_id"] as string;
      await setAddress(id, "right@initech.example");
      const email = surfaceRail("email");
      await surfaces.relay(slackRail(), linearRail(), email, surfaceRail("webhook"));
      await surfaces.untilFinished(id);
      const sent = sentFor<{ to: string; confirmation_token_id: string }>(email, id);
      expect(sent).toMatchObject([{ to: "right@initech.example" }]);
      expect(sent[0]?.confirmation_token_id).not.toBe(old);
      const link = (token: string) =>
        overHttp(db, anonymous, (client) => client.query("select public.describe_confirmation($1)", [token]));
      expect(await codeOf(link(tokenOf(old)))).toBe("not_found");
      await link(tokenOf(sent[0]?.confirmation_token_id ?? ""));
      const made = db.as("headroom_executor").pool.query("select capacity.confirmation_token($1)", [old]);
      expect(await codeOf(made)).toBe("not_found");
      await surfaces.expectWhole([id]);
    });

    test("is accepted before the reviews are done, also from the requester, and used when the customer is asked", async () => {
      const { id } = await surfaces.create();
      expect(await setAddress(id, "buyer@initech.example", "rita")).toMatchObject({
        mailed: false,
        next_link_at: null,
      });
      expect(await unasked(id)).toBeNull();
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      expect(await mailsOf(id)).toMatchObject([{ payload: { to: "buyer@initech.example" } }]);
    });

    test("that is already known changes nothing", async () => {
      const id = await surfaces.createIn(waiting, { customer });
      const before = await surfaces.size();
      expect(await setAddress(id, customer.email)).toMatchObject({ repeated: true, mailed: false });
      expect(await surfaces.size()).toEqual(before);
    });

    test.each([
      ["a@x, b@x"],
      ["somebody"],
      [""],
      [null],
      ["a@x\nBcc: b@x"],
      [`${"a".repeat(400)}@x`],
      ["ｂuyer@initech.example"],
      ["buyer@in\u0130tech.example"],
      ["buyer@[192.0.2.1]"],
    ])("is not %j", async (email) => {
      const id = await surfaces.createIn(waiting);
      const before = await surfaces.size();
      expect(await codeOf(setAddress(id, email))).toBe("invalid_input");
      expect(await surfaces.size()).toEqual(before);
    });

    test("is set only by the owner's side and admins, never by the requester", async () => {
      const id = await surfaces.createIn(waiting, { requester: "carl" });
      for (const actor of ["carl", "tess", "vera"]) {
        expect(await codeOf(setAddress(id, "x@y.example", actor)), actor).toMatch(/^not_allowed$|^not_found$/);
        expect(await codeOf(sendLink(id, actor)), actor).toMatch(/^not_allowed$|^not_found$/);
      }
      expect(await setAddress(id, "x@y.example", "ada")).toMatchObject({ mailed: true });
      const other = await surfaces.createIn(waiting);
      await surfaces.setAway("cora", true);
      expect(await setAddress(other, "x@y.example", "dora")).toMatchObject({ mailed: true });
      await surfaces.setAway("cora", false);
      const own = await surfaces.create({ requester: "rita" });
      for (const actor of ["tess", "vera"])
        expect(await codeOf(setAddress(own.id, "x@y.example", actor)), actor).toMatch(/^not_allowed$|^not_found$/);
      // From the first approval on, the requester may not change what the reviewers saw.
      await surfaces.apply(own.id, "COMMERCIAL_APPROVED", "cora");
      expect(await codeOf(setAddress(own.id, "rita@y.example", "rita"))).toBe("not_allowed");
      expect(await setAddress(own.id, "x@y.example", "cora")).toMatchObject({ mailed: false });
    });

    test("is kept with its hash in the log, and is removed by an erasure; nobody is asked afterwards", async () => {
      const id = await surfaces.createIn(waiting);
      await setAddress(id, "zugzwang@initech.example");
      expect(await tracesOf(db, ["zugzwang"])).not.toEqual([]);
      await overHttp(db, memberSession("ada"), (client) =>
        client.query("select public.erase_customer($1, 'asked to')", [id]),
      );
      expect(await tracesOf(db, ["zugzwang"])).toEqual([]);
      expect(await unasked(id)).toBe("erased");
      expect(await codeOf(setAddress(id, "other@initech.example"))).toBe("conflict");
      expect(await codeOf(sendLink(id))).toBe("conflict");
      await surfaces.expectWhole([id]);
    });
  });

  describe("the link", () => {
    test("sent again is the same link, to the same address, and messages that were still waiting are given up", async () => {
      const id = await surfaces.createIn(waiting, { customer });
      expect(await codeOf(sendLink(id))).toBe("too_soon");
      await rowsOf(
        superuser,
        "set session_replication_role = replica; update capacity.events set created_at = created_at - interval '1 hour'; set session_replication_role = origin",
      );
      expect(await sendLink(id)).toMatchObject({ mailed: true, repeated: false });
      const mails = await mailsOf(id);
      expect(new Set(mails.map(({ payload }) => payload["confirmation_token_id"])).size).toBe(1);
      const email = surfaceRail("email");
      await surfaces.relay(slackRail(), linearRail(), email, surfaceRail("webhook"));
      await surfaces.untilFinished(id);
      expect(sentFor(email, id)).toHaveLength(1);
      expect(await surfaces.unmatched()).toEqual([]);
    });

    test("is sent every ten minutes at most, whatever the address, and ten times in total", async () => {
      const id = await surfaces.createIn(waiting, { ttlDays: 90 });
      for (let nth = 1; nth <= 10; nth += 1) {
        expect(await setAddress(id, `victim${nth}@example.org`), `the ${nth}th`).toMatchObject({ mailed: true });
        const refused = await refusalOf(setAddress(id, `other${nth}@example.org`));
        expect(refused.detail).toMatch(nth === 10 ? /^conflict/ : /^too_soon: again in \d{1,3} seconds$/);
        await age(surfaces, id, 1);
      }
      expect(await codeOf(sendLink(id))).toBe("conflict");
      expect(await mailsOf(id)).toHaveLength(10);
    });

    test("is not sent where nobody could receive it, where it goes out automatically, or when it is too late", async () => {
      const missing = await surfaces.createIn(waiting);
      expect(await refusalOf(sendLink(missing))).toMatchObject({
        message: "The customer has not been asked: their e-mail address is not known.",
        detail: `conflict: ${missing}`,
      });
      const early = await surfaces.create({ customer });
      expect(await codeOf(sendLink(early.id))).toBe("conflict");
      const late = await surfaces.createIn(waiting, { customer });
      await surfaces.passDeadline(late);
      expect(await codeOf(sendLink(late))).toBe("deadline_passed");
      expect(await codeOf(setAddress(late, "x@y.example"))).toBe("deadline_passed");
      const done = await surfaces.createIn("PROVISIONING", { customer });
      expect(await codeOf(setAddress(done, "x@y.example"))).toBe("conflict");
    });

    test("goes out once the workspace has a public address and somebody asks for it", async () => {
      await surfaces.settings({ public_url: null });
      const id = await surfaces.createIn(waiting, { customer });
      expect(await codeOf(sendLink(id))).toBe("conflict");
      await surfaces.settings({ public_url: publicUrl });
      expect(await unasked(id)).toBe("not_sent");
      expect(await sendLink(id)).toMatchObject({ mailed: true, customer_unasked: null });
      expect(await unasked(id)).toBeNull();
    });
  });
});
