/** Prices, rates and settings as operators keep them: added, replaced and withdrawn, by whom, and what is refused. */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow } from "../../capacity/harness.ts";
import { noPrices, offerFor, offerOf, putPrice, withdraw, type PriceRow } from "../pricing.ts";

describe.each(POSTGRES_VERSIONS)("prices on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const control = db.as("headroom_control").pool;
  beforeEach(() => noPrices(workflow));

  const put = (price: object | null, workspace = "acme", actor: string | null = "ada") =>
    rowsOf<PriceRow>(control, "select * from billing.put_price($1, $2, $3)", [
      workspace,
      price === null ? null : JSON.stringify(price),
      actor,
    ]);
  const good = { size: "32XL", kind: "recurring", currency: "USD", unit_amount: 100 };
  const set = (currency: string, usd: string | null, actor: string | null = "ada") =>
    rowsOf(control, "select billing.set_rate('acme', $1, $2, $3)", [currency, usd, actor]);
  const rates = () => rowsOf(control, "select currency, usd, set_by from billing.list_rates('acme')");
  const prices = () => rowsOf<PriceRow>(control, "select * from billing.list_prices('acme')");

  test("a price is added under a name, in the workspace's currency by default, and adding it again changes nothing", async () => {
    await rowsOf(control, `select billing.put_settings('acme', '{"currency": "EUR"}')`);
    const [first] = await put({ size: "32XL", kind: "one_off", unit_amount: 500, region: "us-east-1" });
    expect(first).toMatchObject({ currency: "EUR", created_by: "ada", withdrawn_at: null });
    const [again] = await put({ size: "32xl", kind: "one_off", unit_amount: 500, region: "us-east-1" });
    expect(again?.id).toBe(first?.id);
    const [other] = await put({ size: "32XL", kind: "one_off", unit_amount: 600, region: "us-east-1" });
    const [back] = await put({ size: "32XL", kind: "one_off", unit_amount: 500, region: "us-east-1" });
    expect(new Set([first?.id, other?.id, back?.id]).size).toBe(3);
    expect((await prices()).map((price) => price.id)).toEqual([back?.id, other?.id, first?.id]);
  });

  test.each<[string, object, string]>([
    ["no size", { size: null }, "size"],
    ["markup for a size", { size: "<b>32XL</b>" }, "size"],
    ["markup for a region", { region: "<script>" }, "region"],
    ["a duration of nothing", { duration_days: 0 }, "duration_days"],
    ["a duration of a century", { duration_days: 36_500 }, "duration_days"],
    ["an unknown kind", { kind: "weekly" }, "kind"],
    ["a currency that Stripe does not take", { currency: "XAU" }, "currency"],
    ["a currency in small letters", { currency: "usd" }, "currency"],
    ["nothing to pay", { unit_amount: 0 }, "unit_amount"],
    ["less than nothing", { unit_amount: -100 }, "unit_amount"],
    ["more than Stripe takes", { unit_amount: 100_000_000 }, "unit_amount"],
    ["thousandths of a dinar", { currency: "KWD", unit_amount: 5124 }, "unit_amount"],
    ["hundredths of a krona", { currency: "ISK", unit_amount: 550 }, "unit_amount"],
    ["a time in the past", { valid_from: "2020-01-01T00:00:00Z" }, "valid_from"],
    ["a time in the far future", { valid_from: "2100-01-01T00:00:00Z" }, "valid_from"],
  ])("%s is refused, and the refusal names the field", async (_, wrong, field) => {
    const refusal = await refusalOf(put({ ...good, ...wrong }));
    expect(refusal).toMatchObject({
      code: "PT400",
      message: `The ${field} of the price is not acceptable.`,
      detail: expect.stringMatching(new RegExp(`^invalid_input: ${field}: `)),
      hint: "Nothing was changed.",
    });
    expect(await prices()).toEqual([]);
  });

  test.each<[string, object | null]>([
    ["half a cent", { ...good, unit_amount: 99.5 }],
    ["an amount beyond all numbers", { ...good, unit_amount: "9".repeat(40) }],
    ["an amount in words", { ...good, unit_amount: "much" }],
    ["an unknown field", { ...good, discount: 1 }],
    ["no object", [1]],
    ["nothing", null],
  ])("%s is refused too", async (_, price) => {
    expect(await codeOf(put(price))).toBe("invalid_input");
    expect(await prices()).toEqual([]);
  });

  test("nobody sets a price anonymously, or in a workspace that does not exist", async () => {
    for (const actor of [null, "", "a\nb", "x".repeat(201)])
      expect(await codeOf(put(good, "acme", actor))).toBe("invalid_input");
    expect(await codeOf(put(good, "nowhere"))).toBe("not_found");
  });

  test("a price that begins later applies from then on", async () => {
    await putPrice(workflow, { unit_amount: 100 });
    await putPrice(workflow, { unit_amount: 200, valid_from: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await offerFor(workflow, {})).toMatchObject({ unit_amount: 100 });
    await rowsOf(workflow.superuser, "update billing.prices set valid_from = now() where unit_amount = 200");
    expect(await offerFor(workflow, {})).toMatchObject({ unit_amount: 200 });
  });

  test("a wrong price is withdrawn with a reason: the previous one applies again, and its offers keep their text", async () => {
    await putPrice(workflow, { unit_amount: 100 });
    const mistake = await putPrice(workflow, { unit_amount: 1_000_000 });
    const { id } = await workflow.create();
    expect(await codeOf(rowsOf(control, "select billing.withdraw_price($1, ' ', 'ada')", [mistake.id]))).toBe(
      "invalid_input",
    );
    expect(await codeOf(rowsOf(control, "select billing.withdraw_price($1, 'why', null)", [mistake.id]))).toBe(
      "invalid_input",
    );
    expect(await codeOf(rowsOf(control, "select billing.withdraw_price(gen_random_uuid(), 'why', 'ada')"))).toBe(
      "not_found",
    );
    const withdrawn = await oneOf<PriceRow>(control, "select * from billing.withdraw_price($1, ' a typo ', 'ada')", [
      mistake.id,
    ]);
    expect(withdrawn).toMatchObject({ withdrawn_by: "ada", withdrawn_why: "a typo", withdrawn_at: expect.any(Date) });
    const again = await oneOf(control, "select * from billing.withdraw_price($1, 'another reason', 'eve')", [
      mistake.id,
    ]);
    expect(again).toEqual(withdrawn);
    expect(await offerFor(workflow, {})).toMatchObject({ unit_amount: 100 });
    expect(await offerOf(workflow, id)).toMatchObject({ price_id: mistake.id, amount: 4_000_000 });
    await workflow.expectWhole([id]);
  });

  test("when the only price is withdrawn, requests have no price", async () => {
    const price = await putPrice(workflow);
    await withdraw(workflow, price.id);
    expect(await offerFor(workflow, {})).toBeNull();
  });

  test("withdrawing ends the ways to pay at that price, and no others", async () => {
    const mistake = await putPrice(workflow, { size: "8XL" });
    await putPrice(workflow, { size: "16XL" });
    const open = async (size: string): Promise<string> => {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { size });
      await rowsOf(
        workflow.superuser,
        `insert into billing.checkouts (id, request_id, workspace_id, number, mode, currency, amount, entrance, expires_at, next_look_at)
         values (gen_random_uuid(), $1, 'acme', 1, 'subscription', 'USD', 120000, 'link', now() + interval '1 hour', now())`,
        [id],
      );
      return id;
    };
    const [ended, kept] = [await open("8XL"), await open("16XL")];
    await withdraw(workflow, mistake.id);
    const states = await rowsOf(
      workflow.superuser,
      "select request_id, state from billing.checkouts where request_id in ($1, $2) order by state",
      [ended, kept],
    );
    expect(states).toEqual([
      { request_id: ended, state: "abandoned" },
      { request_id: kept, state: "asked" },
    ]);
  });

  test("rates are set, replaced and removed by currency, and absurd ones refused", async () => {
    await set("EUR", "1.08");
    await set("JPY", "0.0067");
    await set("EUR", "1.1", "vera");
    expect(await rates()).toEqual([
      { currency: "EUR", usd: "1.1", set_by: "vera" },
      { currency: "JPY", usd: "0.0067", set_by: "ada" },
    ]);
    for (const [currency, usd] of [
      ["USD", "1"],
      ["XAU", "2000"],
      ["eur", "1"],
      ["EUR", "0"],
      ["EUR", "-1"],
      ["EUR", "NaN"],
      ["EUR", "Infinity"],
      ["EUR", "1000000"],
    ] as const)
      expect(await codeOf(set(currency, usd))).toBe("invalid_input");
    expect(await codeOf(set("EUR", "1", ""))).toBe("invalid_input");
    await set("EUR", null);
    expect(await rates()).toHaveLength(1);
  });

  test("settings change one by one, have defaults, and are refused out of range", async () => {
    const change = (changes: object, workspace = "acme") =>
      oneOf<Record<string, unknown>>(control, "select * from billing.put_settings($1, $2)", [
        workspace,
        JSON.stringify(changes),
      ]);
    expect(await change({ hold_days: 3 })).toMatchObject({
      currency: "USD",
      session_minutes: 1440,
      hold_days: 3,
      grace_days: 7,
      self_service_requester: null,
    });
    expect(await change({ self_service_requester: "rita" })).toMatchObject({
      hold_days: 3,
      self_service_requester: "rita",
    });
    for (const wrong of [
      { currency: "XAU" },
      { session_minutes: 29 },
      { session_minutes: 1441 },
      { hold_days: 0 },
      { grace_days: 91 },
      { grace_days: null },
      { self_service_requester: "gus" },
      { self_service_requester: "<b>" },
      { colour: "red" },
    ])
      expect(await codeOf(change(wrong))).toBe("invalid_input");
    expect(await codeOf(change({}, "nowhere"))).toBe("not_found");
    const listed = await rowsOf<{ workspace_id: string; hold_days: number }>(
      control,
      "select workspace_id, hold_days from billing.list_settings() where workspace_id in ('acme', 'globex')",
    );
    expect(listed).toEqual([
      { workspace_id: "acme", hold_days: 3 },
      { workspace_id: "globex", hold_days: 14 },
    ]);
  });

  test("auditors can list but not set, and the other roles of the installation see no price", async () => {
    const auditor = db.as("headroom_auditor").pool;
    for (const list of ["list_prices('acme')", "list_rates('acme')", "list_settings()"])
      await rowsOf(auditor, `select * from billing.${list}`);
    for (const change of [
      "put_price('acme', '{}', 'me')",
      "withdraw_price(gen_random_uuid(), 'why', 'me')",
      "set_rate('acme', 'EUR', 1, 'me')",
      "put_settings('acme')",
    ]) {
      for (const role of ["headroom_auditor", "headroom_executor", "headroom_ingest"] as const)
        expect(await refusalOf(rowsOf(db.as(role).pool, `select billing.${change}`))).toMatchObject({ code: "42501" });
    }
  });
});
