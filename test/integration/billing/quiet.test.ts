/** Self-service requests that a rule approves: colleagues are notified when they are confirmed, and not before. */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { customer, startSurfaces } from "../capacity/surfaces.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { noPrices, putPrice } from "./pricing.ts";

describe.each(POSTGRES_VERSIONS)("quiet requests on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);

  beforeEach(async () => {
    await noPrices(surfaces);
    await putPrice(surfaces, { size: "S", unit_amount: 1_000 });
    await putPrice(surfaces, { size: "L", unit_amount: 900_000 });
    await rowsOf(surfaces.superuser, "delete from capacity.policies");
    await surfaces.addPolicy({ id: "small", kind: "auto_approval", step: "both", max_monthly_cost_usd: 100 });
    await surfaces.addPolicy({ id: "owner", kind: "review_route", step: "commercial", approver_id: "cora" });
    await surfaces.addPolicy({ id: "group", kind: "review_route", step: "technical", group_id: "infra" });
  });

  const submit = async (size = "S", via = "self-service"): Promise<string> =>
    (
      await oneOf<{ id: string }>(
        surfaces.superuser,
        `select ((s.context).request).id
           from directory.workspaces w,
                capacity.submit(row('user', 'rita', $1)::capacity.actor, w, jsonb_populate_record(null::capacity.terms, $2), null) s
          where w.id = 'acme'`,
        [
          via,
          JSON.stringify({
            customer_ref: customer,
            requested_size: size,
            quantity: 1,
            region: "us-east-1",
            expected_duration_days: 30,
            confirmation_ttl_days: 7,
          }),
        ],
      )
    ).id;
  const pay = (id: string) => surfaces.apply(id, "CUSTOMER_CONFIRMED", "system:payment:1", { payload: {} });
  const names = async (id: string): Promise<string[]> =>
    (await surfaces.effects(id)).map(({ instruction, effect }) => `${instruction.slice(id.length)} ${effect}`);

  test("nothing is posted in Slack or Linear before the payment, while the customer and the endpoints are notified", async () => {
    const id = await submit();
    expect(await surfaces.row(id)).toMatchObject({
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      review_plan: { quiet: true },
    });
    expect(await names(id)).toEqual([
      "#1 event:file:billing",
      "#2 event:file:billing",
      "#3 event:file:billing",
      "#3 tell:customer",
    ]);
    expect(await surfaces.unmatched()).toEqual([]);
  });

  test("the payment makes the thread and the issue, and from then on everything is as usual", async () => {
    const id = await submit();
    await pay(id);
    expect((await names(id)).slice(4, 7)).toEqual(["#4 slack:root", "#4 linear:issue", "#4 event:file:billing"]);
    const root = await surfaces.effect(`${id}#4`, "slack:root");
    expect(root.captures).toEqual({ slack_thread_ts: ["ts"] });
    expect(root.payload["method"]).toBe("chat.postMessage");
    expect(JSON.stringify(root.payload)).toContain("The customer paid USD 10.00.");
    await surfaces.apply(id, "PROVISIONING_COMPLETE", "otto");
    await surfaces.release();
    expect((await names(id)).filter((name) => name.startsWith("#5")).toSorted()).toEqual([
      "#5 event:file:billing",
      "#5 linear:comment",
      "#5 linear:state",
      "#5 slack:reply",
      "#5 slack:root-update",
      "#5 tell:customer",
    ]);
    await rowsOf(surfaces.superuser, "select public.note_capacity_request($1, 'hello', 'rita')", [id]);
    expect((await names(id)).filter((name) => name.startsWith("!")).slice(-2)).toEqual([
      expect.stringMatching(/slack:reply$/),
      expect.stringMatching(/linear:comment$/),
    ]);
    expect(await surfaces.unmatched()).toEqual([]);
    await surfaces.expectWhole([id]);
  });

  test("one that is declined, cancelled or expired is never announced, and notices about it go to nobody's thread", async () => {
    for (const [event, actor] of [
      ["CUSTOMER_DECLINED", "customer:customer"],
      ["CANCEL_APPROVED", "rita"],
      ["CUSTOMER_CONFIRMATION_TIMEOUT", "cron:timer"],
    ] as const) {
      const id = await submit();
      await rowsOf(surfaces.superuser, "select public.note_capacity_request($1, 'hello', 'rita')", [id]);
      if (event === "CUSTOMER_CONFIRMATION_TIMEOUT") await surfaces.passDeadline(id);
      await surfaces.apply(id, event, actor);
      await rowsOf(surfaces.superuser, "select public.note_capacity_request($1, 'again', 'rita')", [id]);
      expect((await names(id)).filter((name) => /slack|linear/.test(name))).toEqual([]);
    }
    expect(await surfaces.unmatched()).toEqual([]);
  });

  test("one that people review, and one that a known person asks for, are announced from the beginning", async () => {
    const reviewed = await submit("L");
    expect(await surfaces.row(reviewed)).toMatchObject({ state: "UNDER_REVIEW" });
    expect((await surfaces.row(reviewed)).review_plan).not.toHaveProperty("quiet");
    expect(await names(reviewed)).toContain("#1 slack:root");
    const known = await submit("S", "web");
    expect((await surfaces.row(known)).review_plan).not.toHaveProperty("quiet");
    expect(await names(known)).toContain("#1 slack:root");
  });

  test("people who are told directly for lack of a thread get the same message about a quiet request", async () => {
    await surfaces.settings({ public_url: null });
    await rowsOf(surfaces.superuser, "update directory.members set email = id || '@acme.example' where id = 'ada'");
    const id = await submit();
    const told = (await surfaces.toldOf(id)).filter(({ instruction }) => instruction === `${id}#3`);
    expect(told.map(({ audience, to, channel }) => [audience, to, channel])).toContainEqual(["fixers", "ada", "slack"]);
  });
});
