/**
 * What visitors of the wizard may use up: mails and drafts, whose limits they count against, and that a flood costs nobody else anything.
 */
import { describe, expect, test } from "vitest";
import type { TestClient } from "../../../helpers/database.ts";
import { codeOf, oneOf, rowsOf } from "../../capacity/harness.ts";
import { testSecretKey } from "../../http/harness.ts";
import { newAddress, visitorsOf, what, when, type Saved } from "../wizard-visitors.ts";
import { startWizard } from "../wizard.ts";

const wizard = await startWizard();
const { workflow, proofOf, mails } = wizard;
const { from, ask, begin, save, submit, fillIn } = visitorsOf(wizard);

test("mails to one mailbox are counted one after the other, whoever requests them", async () => {
  const draft = "jsonb_populate_record(null::billing.drafts, jsonb_build_object(%))";
  const draftOf = (id: string): string =>
    draft.replace(
      "%",
      `'id', '${id}', 'workspace_id', 'acme', 'terms', jsonb_build_object('email', 'bea@crowd.example', 'name', 'Bea'),
       'step', 4, 'revision', 3, 'created_at', now(), 'expires_at', now() + interval '1 day'`,
    );
  const mail = async (client: TestClient, id: string): Promise<string | null> =>
    (await oneOf<{ problem: string | null }>(client, `select billing.mail_draft(${draftOf(id)}) as problem`)).problem;
  const ids = [1, 2, 3, 4].map((n) => String(n).repeat(32));
  const [one, other] = await workflow.db.twoConnections("postgres");
  for (const client of [one, other])
    await client.query("select set_config('headroom.secret_key', $1, false)", [testSecretKey]);
  for (const id of ids.slice(0, 2)) expect(await mail(one, id)).toBeNull();
  await one.query("begin");
  expect(await mail(one, ids[2]!)).toBeNull();
  const last = mail(other, ids[3]!);
  await workflow.db.waitUntilBlocked(other);
  await one.query("commit");
  expect(await last).toContain("Three links were sent to this address");
  expect(await rowsOf(other, "select from billing.draft_mails")).toHaveLength(3);
  await Promise.all([one.end(), other.end()]);
});

/** Which limit a draft begun from there counts against, and whether it would for a visitor from an unknown network. */
const begunFrom = (where: string) =>
  from(where, async () => {
    const { token } = await begin();
    await save(token, 1, 0, what);
    const id = Buffer.from(token, "base64url").subarray(0, 16).toString("hex");
    const text =
      "select spender = billing.spender(workspace_id, id) as shared, encode(spender, 'hex') as spender from billing.drafts where id = $1";
    // A login that is not our gateway's sets the same value, and is not believed.
    const client = await workflow.db.as("postgres").connect();
    await client.query("select set_config('headroom.client_network', $1, false)", [where]);
    const found = await oneOf<{ shared: boolean; spender: string }>(client, text, [id]);
    await client.end();
    return found;
  });

const person = { name: "Bea", organisation: "" };

describe("a flood", () => {
  test("of mails to one address ends after three links within an hour that lead to an order", async () => {
    const victim = newAddress();
    for (let turn = 0; turn < 3; turn += 1) await fillIn(victim);
    const { token } = await begin();
    await save(token, 1, 0, what);
    await save(token, 2, 1, when);
    const refused = await save(token, 3, 2, { name: "Bea", organisation: "", email: victim.toUpperCase() });
    expect(refused.outcome).toBe("invalid");
    expect(refused.problems["email"]).toContain("Three links were sent to this address");
    expect((await mails()).filter(({ payload }) => payload.to === victim)).toHaveLength(3);
    expect(await save(token, 3, 2, { name: "Bea", organisation: "", email: newAddress() })).toMatchObject({
      outcome: "saved",
    });
  });

  test("of links that lead nowhere does not lock the owner out of the mailbox, and ends at twenty", async () => {
    const victim = newAddress();
    const address = async (): Promise<Saved> => {
      const { token } = await begin();
      await save(token, 1, 0, what);
      await save(token, 2, 1, when);
      const saved = await save(token, 3, 2, { ...person, email: victim });
      if (saved.outcome === "saved") await save(token, 3, 3, { ...person, email: newAddress() });
      return saved;
    };
    for (let turn = 0; turn < 19; turn += 1) expect(await address()).toMatchObject({ outcome: "saved" });
    await fillIn(victim);
    expect((await address()).problems["email"]).toContain("Too many links");
  });

  test("of mails to one mailbox is one flood even where each goes to a different address of it", async () => {
    const [name, domain] = newAddress().split("@");
    for (const tag of ["+a", "+b+c", "+"]) await fillIn(`${name}${tag}@${domain}`);
    const { token } = await begin();
    await save(token, 1, 0, what);
    await save(token, 2, 1, when);
    const refused = await save(token, 3, 2, { name: "Bea", email: `${name}@${domain}` });
    expect(refused.problems["email"]).toContain("Three links were sent to this address");
  });

  test("of mails to another person's mailbox does not keep its owner from ordering: one of the links is enough", async () => {
    const victim = newAddress();
    const planted = [await fillIn(victim), await fillIn(victim), await fillIn(victim)];
    const { token } = await begin();
    await save(token, 1, 0, what);
    await save(token, 2, 1, when);
    const name = () => save(token, 3, 2, { name: "Vic", organisation: "", email: victim });
    expect((await name()).problems["email"]).toContain("an order that you can change and send");

    await save(await proofOf(planted[1]!), 1, 3, { ...what, quantity: "1" });
    expect(await name()).toMatchObject({ outcome: "saved" });
  });

  test("of mails ends at ten unused ones within an hour, for that requester and nobody else", async () => {
    const flooded: string[] = [];
    const next = async (): Promise<Saved> => {
      const { token } = await begin();
      flooded.push(token);
      await save(token, 1, 0, what);
      await save(token, 2, 1, when);
      return save(token, 3, 2, { name: "Eve", organisation: "", email: newAddress() });
    };
    await from("203.0.113.1", async () => {
      for (let turn = 0; turn < 10; turn += 1) expect(await next()).toMatchObject({ outcome: "saved" });
      const refused = await next();
      expect(refused.problems["email"]).toContain("Ten links were asked for within the hour");
      expect(await codeOf(ask("public.send_draft_link('acme', $1)", [flooded[0]]))).toBe("too_soon");
    });
    for (const other of ["203.0.113.2", "2001:db8:1:2::/64", ""]) {
      expect(await from(other, next)).toMatchObject({ outcome: "saved" });
    }
    await save(await proofOf(flooded[0]!), 1, 3, { ...what, quantity: "1" });
    expect(await from("203.0.113.1", next)).toMatchObject({ outcome: "saved" });
  });

  test.each([
    ["from one network", "203.0.113.3", "203.0.113.4"],
    ["from nobody knows where", "", ""],
  ])(
    "of thousands of drafts %s keeps nobody from beginning, proving, continuing and paying",
    async (_where, hostile, visitor) => {
      const mine = await from(visitor, async () => {
        const { token } = await begin();
        await save(token, 1, 0, what);
        return token;
      });
      const count = "select count(*)::integer as count from billing.drafts where workspace_id = 'acme'";
      const before = await oneOf<{ count: number }>(workflow.superuser, count);
      const flood = `(select count(public.save_draft('acme', public.begin_draft('acme') ->> 'token', 1, 0, $1))::integer
                      from generate_series(1, 100))`;
      await from(hostile, async () => {
        for (let turn = 0; turn < 20; turn += 1) expect(await ask(flood, [JSON.stringify(what)])).toBe(100);
      });
      const after = await oneOf<{ count: number }>(workflow.superuser, count);
      if (hostile !== "") expect(after.count - before.count).toBe(20);
      // Mailed visitors, however many, block nothing either.
      await rowsOf(
        workflow.superuser,
        `insert into billing.drafts (id, workspace_id, step, address_mark, expires_at)
       select gen_random_uuid(), 'acme', 4, '\\x00', now() + interval '1 day' from generate_series(1, 2000)`,
      );
      await from(visitor, async () => {
        expect(await save(mine, 2, 1, when)).toMatchObject({ outcome: "saved" });
        await save(mine, 3, 2, { name: "Bea", organisation: "", email: newAddress() });
        const proof = await proofOf(mine);
        expect(await save(proof, 1, 3, { ...what, quantity: "1" })).toMatchObject({ outcome: "saved" });
        expect((await submit(proof, 4, "one_off USD 12000")).checkout).not.toBeNull();
        await submit(await proofOf(await fillIn()), 3, "one_off USD 24000");
      });
      await rowsOf(workflow.superuser, "delete from billing.drafts where request_id is null");
    },
  );

  test("of drafts is counted by network only where our gateway saw one", async () => {
    const seen = [await begunFrom("203.0.113.5"), await begunFrom("203.0.113.5"), await begunFrom("203.0.113.6")];
    expect(seen.map(({ shared }) => shared)).toEqual([false, false, false]);
    expect(new Set(seen.map(({ spender }) => spender)).size).toBe(2);
    for (const where of ["10.1.2.3", "127.0.0.1", "fd00:1:2:3::/64", "unknown", "1.2.3.4, 5.6.7.8"])
      expect([where, (await begunFrom(where)).shared]).toEqual([where, true]);
  });
});
