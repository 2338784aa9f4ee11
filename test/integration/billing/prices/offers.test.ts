/** What a request costs: which price applies, what the log keeps of it, and how escalation uses it. */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow } from "../../capacity/harness.ts";
import { noPrices, offerFor, offerOf, putPrice, setRate, type Offer } from "../pricing.ts";

describe.each(POSTGRES_VERSIONS)("offers on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  beforeEach(() => noPrices(workflow));

  test("without a price there is no offer in the row, the log or the preview", async () => {
    await putPrice(workflow, { size: "64XL" });
    await putPrice(workflow, { region: "eu-west-1" });
    await putPrice(workflow, { duration_days: 90 });
    await putPrice(workflow, { valid_from: new Date(Date.now() + 86_400_000).toISOString() });
    await putPrice(workflow, {}, "globex");
    const { id } = await workflow.create();
    expect(await offerOf(workflow, id)).toBeNull();
    const [submitted] = await workflow.events<{ payload: object }>(id);
    expect(submitted?.payload).not.toHaveProperty("offer");
    expect(await workflow.preview()).toMatchObject({ offer: null });
    await workflow.expectWhole([id]);
  });

  test("machines get the offer with every field, also those that it leaves open", async () => {
    await putPrice(workflow, { kind: "one_off" });
    await rowsOf(
      workflow.superuser,
      "insert into capacity.subscriptions (workspace_id, endpoint) values ('acme', 'books')",
    );
    const { id } = await workflow.create();
    await rowsOf(workflow.superuser, "delete from capacity.subscriptions");
    const offer = await offerOf(workflow, id);
    expect(offer).toMatchObject({ interval: null });
    const { told } = await oneOf<{ told: unknown }>(
      workflow.superuser,
      `select payload #> '{data,offer}' as told from outbox.payloads
        where instruction_id = $1 || '#1' and idempotency_key = 'event:file:books'`,
      [id],
    );
    expect(told).toEqual(offer);
    await noPrices(workflow);
  });

  test("the offer is in the row, the submission's event, the messages and the preview, and the log still verifies", async () => {
    const price = await putPrice(workflow);
    const expected: Offer = {
      price_id: price.id,
      kind: "recurring",
      currency: "USD",
      unit_amount: 30_000,
      quantity: 4,
      amount: 120_000,
      interval: "month",
      duration_days: 30,
      monthly_usd: 1200,
      words: "USD 1,200.00",
    };
    const { id } = await workflow.create();
    expect(await offerOf(workflow, id)).toEqual(expected);
    const [submitted] = await workflow.events<{ payload: { offer: Offer } }>(id);
    expect(submitted?.payload.offer).toEqual(expected);
    expect(await workflow.preview()).toMatchObject({ offer: expected });
    const { story } = await oneOf<{ story: { request: { offer: Offer } } }>(
      workflow.superuser,
      "select public.get_capacity_request($1) as story",
      [id],
    );
    expect(story.request.offer).toEqual(expected);
    await workflow.expectWhole([id]);
    const { findings } = await oneOf<{ findings: unknown[] }>(
      workflow.superuser,
      "select findings from capacity.verify_requests()",
    );
    expect(findings).toEqual([]);
  });

  test("open requests are totalled by price, and by estimate where there is no price", async () => {
    const added = async (): Promise<number> => {
      const { usd } = await oneOf<{ usd: number }>(
        workflow.superuser,
        "select coalesce(sum(estimated_monthly_cost_usd), 0)::float8 as usd from capacity.waits where step = 'commercial'",
      );
      return usd;
    };
    const before = await added();
    await workflow.create({ cost: 500 });
    await putPrice(workflow);
    await workflow.create({ cost: 700 });
    expect((await added()) - before).toBe(500 + 1200);
  });

  test.each<[string, Parameters<typeof putPrice>[1][], Parameters<typeof offerFor>[1], number]>([
    ["sizes are compared case-insensitively", [{ size: "32xl", unit_amount: 100 }], { size: "32Xl" }, 100],
    [
      "a price for the region beats one for all regions",
      [{ region: "us-east-1", unit_amount: 100 }, { unit_amount: 200 }],
      {},
      100,
    ],
    [
      "a price for the duration beats one for any duration",
      [{ duration_days: 30, unit_amount: 100 }, { unit_amount: 200 }],
      {},
      100,
    ],
    [
      "the region beats the duration",
      [
        { region: "us-east-1", unit_amount: 100 },
        { duration_days: 30, unit_amount: 200 },
      ],
      {},
      100,
    ],
    ["of two that are otherwise equal the newest counts", [{ unit_amount: 100 }, { unit_amount: 200 }], {}, 200],
    [
      "the workspace's currency beats another that is newer",
      [{ unit_amount: 100 }, { currency: "EUR", unit_amount: 200 }],
      {},
      100,
    ],
    [
      "without a duration only a price for any duration applies",
      [{ unit_amount: 100 }, { duration_days: 30, unit_amount: 200 }],
      { durationDays: null },
      100,
    ],
  ])("%s", async (_, prices, terms, unitAmount) => {
    for (const price of prices) await putPrice(workflow, price);
    expect(await offerFor(workflow, terms)).toMatchObject({ unit_amount: unitAmount });
  });

  test("a workspace that takes euros offers euros", async () => {
    await rowsOf(workflow.superuser, `select billing.put_settings('acme', '{"currency": "EUR"}')`);
    await putPrice(workflow, { currency: "EUR", unit_amount: 200 });
    await putPrice(workflow, { unit_amount: 100 });
    expect(await offerFor(workflow, {})).toMatchObject({ currency: "EUR", words: "EUR 8.00" });
  });

  test("a price that changes after the submission leaves the offer unchanged, and a repeat gets the same offer", async () => {
    await putPrice(workflow, { unit_amount: 100 });
    const first = await workflow.create({ key: "once" });
    await putPrice(workflow, { unit_amount: 900, currency: "USD" });
    const again = await workflow.create({ key: "once" });
    expect(again.id).toBe(first.id);
    expect(await offerOf(workflow, first.id)).toMatchObject({ amount: 400 });
    expect(await offerFor(workflow, {})).toMatchObject({ amount: 3600 });
  });

  describe("what it is worth per month", () => {
    test.each<[string, Parameters<typeof putPrice>[1], number | null, number | null]>([
      ["a recurring price by its amount", { unit_amount: 25_000 }, 365, 1000],
      ["a one-off price by the month", { kind: "one_off", unit_amount: 25_000, duration_days: 60 }, 60, 500],
      ["a one-off price for any duration whole", { kind: "one_off", unit_amount: 25_000 }, 3650, 1000],
      [
        "a one-off price for less than a month whole",
        { kind: "one_off", unit_amount: 25_000, duration_days: 10 },
        10,
        1000,
      ],
      ["a one-off price without a duration whole", { kind: "one_off", unit_amount: 25_000 }, null, 1000],
      ["thirds to the cent", { kind: "one_off", unit_amount: 25, duration_days: 90 }, 90, 0.33],
      ["yen by their rate, without decimals", { currency: "JPY", unit_amount: 25_000 }, 30, 670],
      ["yen by their rate, without decimals", { currency: "KWD", unit_amount: 25_000 }, 30, 325],
      ["krona by their rate, although Stripe counts hundredths", { currency: "ISK", unit_amount: 2_500_000 }, 30, 730],
      ["a currency without a rate as unknown", { currency: "EUR", unit_amount: 25_000 }, 30, null],
    ])("counts %s", async (_, price, durationDays, worth) => {
      await setRate(workflow, "JPY", "0.0067");
      await setRate(workflow, "KWD", "3.25");
      await setRate(workflow, "ISK", "0.0073");
      await putPrice(workflow, price);
      expect((await offerFor(workflow, { durationDays }))?.monthly_usd).toBe(worth);
    });

    test("decides who must approve, instead of the typed estimate", async () => {
      await rowsOf(workflow.superuser, "delete from capacity.policies");
      await workflow.addPolicy({ id: "big", kind: "escalation", min_monthly_cost_usd: 10_000, approver_role: "vp" });
      await workflow.addPolicy({ id: "small", kind: "auto_approval", step: "both", max_monthly_cost_usd: 100 });
      const kindFor = async (cost: number | null) => {
        const preview = await workflow.preview({ cost });
        const { review_plan: plan } = await workflow.create({ cost });
        expect(plan.commercial).toMatchObject({ auto: preview.commercial.auto, rule: preview.commercial.rule });
        return plan.commercial.auto ? "auto" : plan.commercial.authority.kind;
      };
      expect([await kindFor(50), await kindFor(500), await kindFor(20_000), await kindFor(null)]).toEqual([
        "auto",
        "owner",
        "role",
        "role",
      ]);
      await putPrice(workflow, { unit_amount: 2_000 });
      expect([await kindFor(50), await kindFor(20_000), await kindFor(null)]).toEqual(["auto", "auto", "auto"]);
      await putPrice(workflow, { unit_amount: 300_000 });
      expect([await kindFor(50), await kindFor(null)]).toEqual(["role", "role"]);
      await noPrices(workflow);
      await putPrice(workflow, { currency: "EUR", unit_amount: 2_000 });
      expect(await kindFor(50)).toBe("role");
      await setRate(workflow, "EUR", "1.1");
      expect(await kindFor(20_000)).toBe("auto");
      await setRate(workflow, "EUR", null);
      expect(await kindFor(50)).toBe("role");
      await rowsOf(workflow.superuser, "delete from capacity.policies");
    });
  });

  test.each<[string, Parameters<typeof putPrice>[1], number, string]>([
    ["more than Stripe takes", { unit_amount: 99_999_999 }, 2, "at most USD 999,999.99"],
    ["an absurd quantity", { unit_amount: 99_999_999 }, 10_000, "at most USD 999,999.99"],
    ["less than Stripe takes", { unit_amount: 12 }, 4, "at least USD 0.50"],
  ])(
    "%s is refused at submission and in the preview, with an explanation, and nothing is written",
    async (_, price, quantity, said) => {
      await putPrice(workflow, price);
      const before = await workflow.size();
      for (const attempt of [() => workflow.create({ quantity }), () => workflow.preview({ quantity })]) {
        const refusal = await refusalOf(attempt());
        expect(refusal).toMatchObject({ code: "PT400", detail: expect.stringContaining(said) });
        expect(refusal.message).toMatch(
          /^The price of this request cannot be paid: \d+ × USD [\d,.]+ is USD [\d,.]+\.$/,
        );
      }
      expect(await workflow.size()).toEqual(before);
    },
  );

  test("a price never applies to a quantity that no request may have", async () => {
    await putPrice(workflow);
    for (const quantity of [0, -1, 10_001, 2_147_483_647])
      expect(await codeOf(workflow.create({ quantity }))).toBe("invalid_input");
  });
});
