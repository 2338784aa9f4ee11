/** Drafts of the self-service wizard in the database: tokens, limits, what a draft becomes, and how it is forgotten. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, rowsOf } from "../../capacity/harness.ts";
import { newAddress, visitorsOf, what, when } from "../wizard-visitors.ts";
import { startWizard } from "../wizard.ts";

describe.each(POSTGRES_VERSIONS)("drafts on PostgreSQL %i", async (version) => {
  const wizard = await startWizard(version);
  const { workflow, proofOf, mails, size } = wizard;
  const { ask, begin, describeDraft, save, submit, fillIn } = visitorsOf(wizard);
  /** The person who filled in the draft has no part in the order any more. */
  const expectClosed = async (token: string): Promise<void> => {
    const before = await size();
    for (const attempt of [
      () => describeDraft(token),
      () => save(token, 1, 4, { ...what, quantity: "9" }),
      () => save(token, 3, 4, { name: "Eve", organisation: "", email: newAddress() }),
      () => ask("public.send_draft_link('acme', $1)", [token]),
      () => submit(token, 4, "one_off USD 24000"),
    ])
      expect(await codeOf(attempt())).toBe("not_allowed");
    expect(await size()).toEqual(before);
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

  test("the person who filled in the draft can neither see the customer's link nor send the order", async () => {
    const token = await fillIn();
    expect(await codeOf(submit(token, 3, "one_off USD 24000"))).toBe("not_allowed");
    await submit(await proofOf(token), 3, "one_off USD 24000");
    await expectClosed(token);
  });

  describe("once somebody has opened the link, the person who began the order", () => {
    test("with that address reads nothing of it and does nothing with it", async () => {
      const victim = newAddress();
      const token = await fillIn(victim);
      const proof = await proofOf(token);
      // Mail scanners open links: that alone proves nothing.
      await describeDraft(proof);
      expect(await describeDraft(token)).toMatchObject({ step: 4 });
      const theirs = { name: "Vic", organisation: "Own name, Inc.", email: victim };
      expect(await save(proof, 3, 3, theirs)).toMatchObject({ outcome: "saved", draft: { kind: "proof" } });
      await expectClosed(token);
      expect(await submit(proof, 4, "one_off USD 24000")).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED" });
      await expectClosed(token);
    });

    test("cannot read what was entered and was invalid either", async () => {
      const token = await fillIn();
      const wrong = await save(await proofOf(token), 3, 3, { name: "Vic", organisation: "", email: "own@address" });
      expect(wrong).toMatchObject({ outcome: "invalid" });
      await expectClosed(token);
    });

    test("with an address of their own, and a link to that, reads nothing after it was sent to another", async () => {
      const [own, victim] = [newAddress(), newAddress()];
      const token = await fillIn(own);
      const ownProof = await proofOf(token);
      await save(token, 3, 3, { name: "Eve", organisation: "", email: victim });
      await save(await proofOf(token), 3, 4, { name: "Vic", organisation: "", email: victim });
      await expectClosed(token);
      expect(await codeOf(describeDraft(ownProof))).toBe("not_found");
    });

    test("does not get back to it with another address, or by any earlier token", async () => {
      const [own, victim] = [newAddress(), newAddress()];
      const token = await fillIn(own);
      const ownProof = await proofOf(token);
      const moved = await save(ownProof, 3, 3, { name: "Eve", organisation: "", email: victim });
      expect(moved).toMatchObject({ outcome: "saved", draft: { kind: "draft", step: 4 } });
      expect(await codeOf(describeDraft(token))).toBe("not_found");
      expect(await codeOf(describeDraft(ownProof))).toBe("not_found");
      const proof = await proofOf(token);
      const back = await save(proof, 3, 4, { name: "Vic", organisation: "", email: own });
      expect(back).toMatchObject({ outcome: "saved", draft: { kind: "draft" } });
      for (const old of [token, ownProof, moved.draft.token, proof])
        expect(await codeOf(describeDraft(old))).toBe("not_found");
      expect(await describeDraft(await proofOf(back.draft.token))).toMatchObject({ terms: { name: "Vic" } });
    });
  });

  test("an order of a customer whose other job is in progress is refused as a whole, and the refusal names that job", async () => {
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

    test("has control characters, which no form sends", async () => {
      const { token } = await begin();
      const before = await size();
      const header = { ...what, region: "us-east-1\r\nBcc: c@d.example" };
      expect(await codeOf(save(token, 1, 0, header))).toBe("invalid_input");
      expect(await size()).toEqual(before);
    });

    test("is more than Stripe takes at once: the second step says so, and nothing is lost", async () => {
      const { token } = await begin();
      await save(token, 1, 0, { ...what, quantity: "10000" });
      const saved = await save(token, 2, 1, when);
      expect(saved.outcome).toBe("invalid");
      expect(saved.problems["duration_days"]).toContain("cannot be paid");
      expect(saved.draft.terms).toMatchObject({ quantity: 10_000 });
    });

    test("lost its price after the review: the order is refused, and the refusal says where to look", async () => {
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
    test("of a draft is not valid for a confirmation, nor in another workspace", async () => {
      const token = await fillIn();
      const proof = await proofOf(token);
      for (const each of [token, proof]) {
        expect(await codeOf(ask("public.describe_confirmation($1)", [each]))).toBe("not_found");
        expect(await codeOf(ask("public.describe_draft('globex', $1)", [each]))).toBe("not_found");
        const forged = `${each.slice(0, -1)}${each.endsWith("A") ? "B" : "A"}`;
        expect(await codeOf(describeDraft(forged))).toBe("not_found");
      }
    });

    test("of the mail proves the address it was sent to and no other", async () => {
      const token = await fillIn();
      const proof = await proofOf(token);
      const saved = await save(proof, 3, 3, { name: "Bea", organisation: "", email: newAddress() });
      expect(saved).toMatchObject({ outcome: "saved", draft: { kind: "draft" } });
      expect(await codeOf(describeDraft(proof))).toBe("not_found");
      expect(await codeOf(submit(proof, 4, "one_off USD 24000"))).toBe("not_found");
      expect(await describeDraft(await proofOf(token))).toMatchObject({ kind: "proof" });
    });

    test("is not made for a waiting mail once the draft has another address", async () => {
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

  test("an address whose mails bounce gets none, and the visitor who enters it is not told", async () => {
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

  test("the mail quotes nothing that a visitor wrote, and has no link in it", async () => {
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

  test("a region that a visitor typed, where a price holds everywhere, is not in the mail either", async () => {
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

  test("regions that only rules name are shown to nobody", async () => {
    const price = `insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by)
                   values ('acme', 'S', 'one_off', 'USD', 9000, 'test')`;
    await rowsOf(workflow.superuser, price);
    await workflow.addPolicy({ id: "military", kind: "auto_approval", step: "both", regions: ["secret-site-1"] });
    expect(await ask("public.begin_draft('acme') -> 'choices' -> 'regions'", [])).toEqual(["eu-west-1", "us-east-1"]);
    await rowsOf(workflow.superuser, "delete from billing.prices where region is null and size = 'S'");
    await rowsOf(workflow.superuser, "delete from capacity.policies where id = 'military'");
  });

  test("an order that nobody could approve is refused, without naming a rule, group or member", async () => {
    const token = await fillIn(newAddress(), { size: "32XL", region: "us-east-1", quantity: "1" });
    const members = await rowsOf<{ group_id: string; member_id: string }>(
      workflow.superuser,
      "delete from directory.group_members where workspace_id = 'acme' returning group_id, member_id",
    );
    const refusal = await submit(await proofOf(token), 3, "recurring USD 30000").catch((error: unknown) => error);
    expect(refusal).toMatchObject({ detail: "nobody_can_approve" });
    for (const { group_id: group, member_id: member } of members)
      await rowsOf(workflow.superuser, "insert into directory.group_members values ('acme', $1, $2)", [group, member]);
  });

  test("a removed member does not come back as the one in whose name the wizard submits", async () => {
    const put = (changes: object) =>
      rowsOf(workflow.superuser, "select directory.put_member('acme', 'web', $1)", [JSON.stringify(changes)]);
    await put({ active: false });
    await expect(put({ active: true })).rejects.toThrow('still submits as "web"');
    await rowsOf(workflow.superuser, "update billing.settings set self_service_requester = null");
    await put({ active: true });
    await rowsOf(workflow.superuser, "update billing.settings set self_service_requester = 'web'");
  });

  test("a draft and its content are forgotten after a day; its link then opens nothing", async () => {
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

  test("a draft that is begun again after a day is mailed again", async () => {
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

  test("a draft that was sent, forgotten and begun again is a new order, whatever it says", async () => {
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

  test("a sent order is not forgotten after a day: a customer who comes back from Stripe can still pay it", async () => {
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

  test("an erasure removes the wizard's mail too", async () => {
    const email = newAddress();
    const { request_id: id } = await submit(await proofOf(await fillIn(email)), 3, "one_off USD 24000");
    await workflow.apply(id, "CANCEL_APPROVED", "ada");
    await rowsOf(workflow.superuser, "select public.erase_customer($1, 'asked to', 'ada')", [id]);
    expect(JSON.stringify(await mails())).not.toContain(email);
  });
});
