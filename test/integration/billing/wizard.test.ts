/** Drafts of the self-service wizard in the database: tokens, limits, what a draft becomes, and how it is forgotten. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { anonymous, overHttp } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf } from "../capacity/workflow.ts";
import { testSecretKey } from "../http/gateway.ts";
import { startWizard } from "./wizard.ts";

interface Draft {
  readonly token: string;
  readonly kind: string;
  readonly revision: number;
  readonly step: number;
  readonly terms: Readonly<Record<string, unknown>>;
  readonly offer?: { readonly amount: number; readonly currency: string } | null;
  readonly routing?: { readonly reviews: readonly string[]; readonly problem?: string };
  readonly request?: { readonly id: string; readonly state: string; readonly link: string | null };
}
interface Saved {
  readonly outcome: "saved" | "invalid" | "stale";
  readonly problems: Readonly<Record<string, string>>;
  readonly draft: Draft;
}

const what = { size: "S", region: "us-east-1", quantity: "2" };
const when = { needed_by: "", duration_days: "30" };
let people = 0;
const newAddress = (): string => `somebody${(people += 1)}@initech.example`;

describe.each(POSTGRES_VERSIONS)("drafts on PostgreSQL %i", async (version) => {
  const { workflow, proofOf, mails, size } = await startWizard(version);
  const { db } = workflow;

  /** As anybody asks, through the API. */
  const ask = <T>(text: string, values: unknown[]): Promise<T> =>
    overHttp(db, anonymous, async (client) => {
      await rowsOf(client, "select set_config('headroom.secret_key', $1, true)", [testSecretKey]);
      return (await oneOf<{ answer: T }>(client, `select ${text} as answer`, values)).answer;
    });
  const begin = () => ask<Draft>("public.begin_draft('acme')", []);
  const describeDraft = (token: string) => ask<Draft>("public.describe_draft('acme', $1)", [token]);
  const save = (token: string, step: number, revision: number, values: object) =>
    ask<Saved>("public.save_draft('acme', $1, $2, $3, $4)", [token, step, revision, JSON.stringify(values)]);
  const submit = (token: string, revision: number, seen: string | null) =>
    ask<{ request_id: string; state: string; link: string | null; checkout: { checkout_id: string } | null }>(
      "public.submit_draft('acme', $1, $2, $3)",
      [token, revision, seen],
    );
  const fillIn = async (email = newAddress(), capacity: object = what): Promise<string> => {
    const { token } = await begin();
    await save(token, 1, 0, capacity);
    await save(token, 2, 1, when);
    expect(await save(token, 3, 2, { name: "Bea", organisation: "", email })).toMatchObject({ outcome: "saved" });
    return token;
  };

  test("an order becomes a request of the member who stands for the wizard, once, however often it is sent", async () => {
    const email = newAddress();
    const proof = await proofOf(await fillIn(email));
    expect(await describeDraft(proof)).toMatchObject({
      kind: "proof",
      offer: { amount: 24_000, currency: "USD" },
      routing: { reviews: [] },
    });
    const answers = await Promise.all([1, 2, 3].map(() => submit(proof, 3, "one_off USD 24000")));
    expect(new Set(answers.map((answer) => answer.request_id)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.checkout?.checkout_id)).size).toBe(1);
    const id = answers[0]?.request_id ?? "";
    expect(await workflow.row(id)).toMatchObject({
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer_ref: { name: "Bea", email },
    });
    expect((await workflow.events<{ via: string; actor_id: string }>(id))[0]).toMatchObject({
      via: "self-service",
      actor_id: "web",
    });
    expect(await rowsOf(workflow.superuser, "select terms from billing.drafts where request_id = $1", [id])).toEqual([
      { terms: {} },
    ]);
    await workflow.expectWhole([id]);
  });

  test("whoever filled in sees neither the customer's link nor sends the order", async () => {
    const token = await fillIn();
    expect(await codeOf(submit(token, 3, "one_off USD 24000"))).toBe("not_allowed");
    await submit(await proofOf(token), 3, "one_off USD 24000");
    expect((await describeDraft(token)).request).toMatchObject({ link: null });
    expect(await codeOf(save(token, 1, 3, { ...what, quantity: "9" }))).toBe("already_used");
  });

  test("an order of a customer whose other job is in progress is refused as a whole, and names it", async () => {
    const email = newAddress();
    const first = await submit(await proofOf(await fillIn(email)), 3, "one_off USD 24000");
    await workflow.apply(first.request_id, "CUSTOMER_CONFIRMED", "system:payment", { payload: {} });
    const proof = await proofOf(await fillIn(email));
    const before = await size();
    await expect(submit(proof, 3, "one_off USD 24000")).rejects.toThrow(first.request_id);
    expect(await size()).toEqual(before);
  });

  test("a price or an order that has changed since it was seen is not sent", async () => {
    const proof = await proofOf(await fillIn());
    expect(await codeOf(submit(proof, 3, "one_off USD 23999"))).toBe("stale_version");
    expect(await codeOf(submit(proof, 3, null))).toBe("stale_version");
    expect(await codeOf(submit(proof, 2, "one_off USD 24000"))).toBe("stale_version");
  });

  describe("what cannot be ordered", () => {
    test.each([
      [1, { ...what, quantity: "0" }, "quantity"],
      [1, { ...what, quantity: "10001" }, "quantity"],
      [1, { ...what, quantity: "999999999999999999999" }, "quantity"],
      [1, { ...what, quantity: "-1" }, "quantity"],
      [1, { ...what, quantity: "1e3" }, "quantity"],
      [1, { ...what, size: "XXXL" }, "size"],
      [1, { ...what, size: "<script>" }, "size"],
      [1, { ...what, region: "mars-1" }, "region"],
      [1, { ...what, region: "US EAST" }, "region"],
      [1, { size: "32XL", region: "eu-west-1", quantity: "1" }, "region"],
      [1, {}, "size"],
      [1, { size: { $ne: 1 }, region: [], quantity: true }, "size"],
      [2, { needed_by: "2027-02-30", duration_days: "30" }, "needed_by"],
      [2, { needed_by: "1999-01-01", duration_days: "30" }, "needed_by"],
      [2, { needed_by: "tomorrow", duration_days: "30" }, "needed_by"],
      [2, { needed_by: "9999-12-31", duration_days: "30" }, "needed_by"],
      [2, { needed_by: "", duration_days: "31" }, "duration_days"],
      [2, { needed_by: "", duration_days: "" }, "duration_days"],
      [2, { needed_by: "", duration_days: "100000" }, "duration_days"],
      [3, { name: "", email: "a@b.example" }, "name"],
      [3, { name: "x".repeat(201), email: "a@b.example" }, "name"],
      [3, { name: "a\u202eb", email: "a@b.example" }, "name"],
      [3, { name: "A", organisation: "x\ny", email: "a@b.example" }, "organisation"],
      [3, { name: "A", email: "a@b.example, c@d.example" }, "email"],
      [3, { name: "A", email: "a@localhost" }, "email"],
      [3, { name: "A", email: "a@[127.0.0.1]" }, "email"],
      [3, { name: "A", email: `${"a".repeat(300)}@b.example` }, "email"],
      [3, { name: "A", email: "ａ@b.example" }, "email"],
      [3, { name: "A", email: "a\u200b@b.example" }, "email"],
      [3, { name: "A", email: "a@b\u00ad.example" }, "email"],
    ] as const)("step %i with %j: %s", async (step, values, field) => {
      const { token } = await begin();
      if (step > 1) await save(token, 1, 0, what);
      if (step > 2) await save(token, 2, 1, when);
      const sent = (await mails()).length;
      const saved = await save(token, step, step - 1, values);
      expect(saved.outcome).toBe("invalid");
      expect(saved.problems[field]).toMatch(/^[A-Z3].*\.$/);
      expect(saved.draft).toMatchObject({ step, revision: step - 1 });
      expect(await mails()).toHaveLength(sent);
    });

    test("is written with control characters, which no form sends", async () => {
      const { token } = await begin();
      const before = await size();
      const header = { ...what, region: "us-east-1\r\nBcc: c@d.example" };
      expect(await codeOf(save(token, 1, 0, header))).toBe("invalid_input");
      expect(await size()).toEqual(before);
    });

    test("is more than Stripe takes at once: said at the second step, and nothing is lost", async () => {
      const { token } = await begin();
      await save(token, 1, 0, { ...what, quantity: "10000" });
      const saved = await save(token, 2, 1, when);
      expect(saved.outcome).toBe("invalid");
      expect(saved.problems["duration_days"]).toContain("cannot be paid");
      expect(saved.draft.terms).toMatchObject({ quantity: 10_000 });
    });

    test("lost its price after the review: the order is refused, and says where to look", async () => {
      const proof = await proofOf(await fillIn());
      await rowsOf(
        workflow.superuser,
        "update billing.prices set valid_from = now() + interval '1 hour' where size = 'S' and region = 'us-east-1'",
      );
      try {
        expect(await describeDraft(proof)).toMatchObject({ offer: null, problem: expect.stringContaining("no price") });
        const before = await size();
        expect(await codeOf(submit(proof, 3, "one_off USD 24000"))).toBe("conflict");
        expect(await size()).toEqual(before);
      } finally {
        await rowsOf(workflow.superuser, "update billing.prices set valid_from = now() - interval '1 hour'");
      }
    });
  });

  describe("a token", () => {
    test("of a draft is none of a confirmation, and none of another workspace", async () => {
      const token = await fillIn();
      const proof = await proofOf(token);
      for (const each of [token, proof]) {
        expect(await codeOf(ask("public.describe_confirmation($1)", [each]))).toBe("not_found");
        expect(await codeOf(ask("public.describe_draft('globex', $1)", [each]))).toBe("not_found");
        const forged = `${each.slice(0, -1)}${each.endsWith("A") ? "B" : "A"}`;
        expect(await codeOf(describeDraft(forged))).toBe("not_found");
      }
    });

    test("of the mail proves the address that it went to and no other", async () => {
      const token = await fillIn();
      const proof = await proofOf(token);
      const saved = await save(proof, 3, 3, { name: "Bea", organisation: "", email: newAddress() });
      expect(saved).toMatchObject({ outcome: "saved", draft: { kind: "draft" } });
      expect(await codeOf(describeDraft(proof))).toBe("not_found");
      expect(await codeOf(submit(proof, 4, "one_off USD 24000"))).toBe("not_found");
      expect(await describeDraft(await proofOf(token))).toMatchObject({ kind: "proof" });
    });

    test("is not made for a mail that waited while the draft got another address", async () => {
      const [mine, theirs] = [newAddress(), newAddress()];
      const token = await fillIn(mine);
      await save(token, 3, 3, { name: "Bea", organisation: "", email: theirs });
      expect(await codeOf(proofOf(token, mine))).toBe("not_found");
      expect(await describeDraft(await proofOf(token, theirs.toUpperCase()))).toMatchObject({ kind: "proof" });
    });

    test("opens nothing while the wizard is closed", async () => {
      const token = await fillIn();
      await rowsOf(workflow.superuser, "update billing.settings set self_service_requester = null");
      expect(await codeOf(describeDraft(token))).toBe("not_found");
      expect(await codeOf(begin())).toBe("not_found");
      await rowsOf(workflow.superuser, "update billing.settings set self_service_requester = 'web'");
      expect(await describeDraft(token)).toMatchObject({ step: 4 });
    });
  });

  test("an address from which mails come back gets none, and whoever names it is not told", async () => {
    const gone = newAddress();
    await rowsOf(
      workflow.superuser,
      "select notify.suppress('acme', notify.address_mark('acme', $1), 'bounced', 'no such mailbox')",
      [gone],
    );
    const token = await fillIn(gone);
    expect(await describeDraft(token)).toMatchObject({ step: 4, mails: 1 });
    expect((await mails()).filter(({ payload }) => payload.to === gone)).toEqual([]);
  });

  describe("a flood", () => {
    test("of mails to one address ends after three within an hour, whatever the drafts do", async () => {
      const victim = newAddress();
      for (let turn = 0; turn < 3; turn += 1) {
        const token = await fillIn(victim);
        // Away to another address and back would have the first forgotten, if drafts were counted.
        if (turn === 0) await save(token, 3, 3, { name: "Bea", organisation: "", email: newAddress() });
      }
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

    test("of mails to one mailbox is one too where each goes to an address of its own there", async () => {
      const [name, domain] = newAddress().split("@");
      for (const tag of ["+a", "+b+c", "+"]) await fillIn(`${name}${tag}@${domain}`);
      const { token } = await begin();
      await save(token, 1, 0, what);
      await save(token, 2, 1, when);
      const refused = await save(token, 3, 2, { name: "Bea", email: `${name}@${domain}` });
      expect(refused.problems["email"]).toContain("Three links were sent to this address");
    });

    test("of drafts keeps nobody from ordering: beyond two hundred within an hour the one that rested longest is forgotten", async () => {
      const mine = await begin();
      await save(mine.token, 1, 0, what);
      await rowsOf(
        workflow.superuser,
        `insert into billing.drafts (id, workspace_id, step, updated_at, expires_at)
         select gen_random_uuid(), 'acme', 2, now() - interval '5 minutes', now() + interval '1 day' from generate_series(1, 200)`,
      );
      const { token } = await begin();
      expect(await save(token, 1, 0, what)).toMatchObject({ outcome: "saved" });
      const count = "select count(*)::integer as count from billing.drafts where workspace_id = 'acme'";
      expect(await oneOf(workflow.superuser, count)).toEqual({ count: 200 });
      expect(await save(mine.token, 2, 1, when)).toMatchObject({ outcome: "saved" });
      await rowsOf(workflow.superuser, "delete from billing.drafts where revision = 0");
    });

    test("of drafts that were all mailed ends at two hundred within an hour, in its own workspace", async () => {
      await rowsOf(
        workflow.superuser,
        `insert into billing.drafts (id, workspace_id, step, address_mark, expires_at)
         select gen_random_uuid(), 'acme', 4, '\\x00', now() + interval '1 day' from generate_series(1, 200)`,
      );
      await rowsOf(workflow.superuser, "delete from billing.drafts where address_mark is null");
      const { token } = await begin();
      expect(await codeOf(save(token, 1, 0, what))).toBe("too_soon");
      await rowsOf(workflow.superuser, "update billing.drafts set workspace_id = 'globex' where revision = 0");
      expect(await save(token, 1, 0, what)).toMatchObject({ outcome: "saved" });
      await rowsOf(workflow.superuser, "delete from billing.drafts where revision = 0");
    });
  });

  test("the mail names nothing that a visitor wrote, and has no link in it", async () => {
    const { token } = await begin();
    await save(token, 1, 0, what);
    await save(token, 2, 1, when);
    await save(token, 3, 2, {
      name: "{{draft_link}}",
      organisation: "Visit https://evil.example",
      email: newAddress(),
    });
    const text = JSON.stringify((await mails()).at(-1)?.payload);
    expect(text).toContain("2 × S in us-east-1");
    expect(text).toContain('"draft_base_url": "https://capacity.acme.example/new/acme"'.replace(": ", ":"));
    for (const hidden of ["evil", token]) expect(text).not.toContain(hidden);
    expect(text.split("{{draft_link}}")).toHaveLength(3);
  });

  test("a region that a visitor typed, because a price holds everywhere, is not in the mail either", async () => {
    await rowsOf(
      workflow.superuser,
      `insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by)
       values ('acme', 'S', 'one_off', 'USD', 9000, 'test')`,
    );
    const token = await fillIn(newAddress(), { ...what, region: "call-0900-555-for-your-refund" });
    const text = (await mails()).at(-1)?.payload.text;
    expect(text).toContain("Capacity: 2 × S\n");
    expect(text).not.toContain("call-0900");
    expect((await describeDraft(token)).terms).toMatchObject({ region: "call-0900-555-for-your-refund" });
    await rowsOf(workflow.superuser, "delete from billing.prices where region is null and size = 'S'");
  });

  test("a draft is forgotten after its day, with what it says; its link then opens nothing", async () => {
    const token = await fillIn();
    const proof = await proofOf(token);
    await rowsOf(workflow.superuser, "update billing.drafts set expires_at = now() where id = $1", [
      Buffer.from(token, "base64url").subarray(0, 16).toString("hex"),
    ]);
    expect(await codeOf(describeDraft(proof))).toBe("not_found");
    expect(await codeOf(save(token, 2, 1, when))).toBe("gone");
    await rowsOf(workflow.superuser, "update billing.draft_mails set asked_at = now() - interval '25 hours'");
    const { forgotten } = await oneOf<{ forgotten: number }>(
      workflow.superuser,
      "select billing.forget_drafts() as forgotten",
    );
    expect(forgotten).toBeGreaterThanOrEqual(1);
    expect(await rowsOf(workflow.superuser, "select from billing.draft_mails")).toEqual([]);
    expect(await describeDraft(token)).toMatchObject({ step: 1, revision: 0, terms: {} });
  });

  test("a draft that is begun again after its day is mailed again", async () => {
    const email = newAddress();
    const token = await fillIn(email);
    await rowsOf(workflow.superuser, "update billing.drafts set expires_at = now()");
    await rowsOf(workflow.superuser, "update billing.draft_mails set asked_at = now() - interval '25 hours'");
    await rowsOf(workflow.superuser, "select billing.forget_drafts()");
    await save(token, 1, 0, { ...what, quantity: "3" });
    await save(token, 2, 1, when);
    expect(await save(token, 3, 2, { name: "Bea", organisation: "", email })).toMatchObject({ outcome: "saved" });
    expect((await mails()).filter(({ payload }) => payload.to === email)).toHaveLength(2);
  });

  test("a draft that was sent, forgotten and begun again is another order, whatever it says", async () => {
    const email = newAddress();
    const token = await fillIn(email);
    const { request_id: first } = await submit(await proofOf(token), 3, "one_off USD 24000");
    await workflow.apply(first, "CANCEL_APPROVED", "ada");
    await rowsOf(workflow.superuser, "update billing.drafts set expires_at = now()");
    await rowsOf(workflow.superuser, "select billing.forget_drafts()");
    await save(token, 1, 0, what);
    await save(token, 2, 1, when);
    await save(token, 3, 2, { name: "Bea", organisation: "", email });
    const { request_id: second } = await submit(await proofOf(token), 3, "one_off USD 24000");
    expect(second).not.toBe(first);
  });

  test("an order that was sent is not forgotten after a day: whoever comes back from Stripe can still pay it", async () => {
    const token = await fillIn();
    const proof = await proofOf(token);
    const id = Buffer.from(token, "base64url").subarray(0, 16).toString("hex");
    const { request_id: sent } = await submit(proof, 3, "one_off USD 24000");
    const aDayLater = "update billing.drafts set expires_at = expires_at - interval '25 hours' where id = $1";
    await rowsOf(workflow.superuser, aDayLater, [id]);
    await rowsOf(workflow.superuser, "select billing.forget_drafts()");
    expect((await describeDraft(proof)).request).toMatchObject({ id: sent, state: "CUSTOMER_CONFIRMATION_REQUIRED" });
    expect((await submit(proof, 3, null)).checkout).not.toBeNull();
  });

  test("an erasure takes the wizard's mail with it", async () => {
    const email = newAddress();
    const { request_id: id } = await submit(await proofOf(await fillIn(email)), 3, "one_off USD 24000");
    await workflow.apply(id, "CANCEL_APPROVED", "ada");
    await rowsOf(workflow.superuser, "select public.erase_customer($1, 'asked to', 'ada')", [id]);
    expect(JSON.stringify(await mails())).not.toContain(email);
  });
});
