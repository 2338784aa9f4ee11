/** `headroom prices …` against a real database, as the operators' role. */
import { expect, test } from "vitest";
import { startWorkflow } from "../../capacity/harness.ts";
import { headroom, type Outcome } from "../harness.ts";

const w = await startWorkflow(18);
const env = { DATABASE_URL: w.db.as("headroom_control").url, HEADROOM_WORKSPACE: "acme" };

function prices(...parameters: string[]): Promise<Outcome> {
  return headroom(["prices", ...parameters], { env });
}

async function pricesJson(...parameters: string[]) {
  return JSON.parse((await prices(...parameters, "--json")).out);
}

test("without prices it says what that means, and how to set one", async () => {
  expect((await prices("list")).out).toBe(
    "No price applies in the workspace acme: customers confirm without paying.\nNext: headroom prices set <size> --amount 300.00 --monthly --workspace acme\n",
  );
  expect(await prices("list", "--workspace", "nowhere")).toMatchObject({ status: 1, out: "" });
});

test("a price is set, replaced, and withdrawn", async () => {
  const set = await prices("set", "32XL", "--amount", "300.00", "--monthly", "--actor", "ada");
  expect(set).toMatchObject({ status: 0, err: "" });
  expect(set.out).toMatch(/^From \S+Z on one 32XL anywhere costs USD 300\.00 a month\.\n/);
  const { price } = await pricesJson("set", "32XL", "--amount", "30.00", "--monthly");
  expect(price).toMatchObject({ unitAmount: 3_000, kind: "recurring", currency: "USD", region: null });
  const yen = ["--amount", "5000", "--currency", "jpy", "--once", "--region", "ap-1", "--days", "30"];
  await prices("set", "32XL", ...yen);
  expect((await prices("list")).out).toMatch(/^32XL +ap-1 +30 +JPY 5,000 once +applies/m);
  expect((await prices("list")).out).toMatch(/^32XL +all +any +USD 30\.00 a month +applies/m);
  const withdrawn = await prices("withdraw", price.id, "--reason", "a tenth of it", "--actor", "ada");
  expect(withdrawn.out).toMatch(/^USD 30\.00 a month for one 32XL anywhere is withdrawn\. Open offers/);
  const all = (await prices("list", "--all")).out;
  expect(all).toMatch(/USD 30\.00 a month +withdrawn .* ada: a tenth of it$/m);
  expect(all).toMatch(/USD 300\.00 a month +applies/m);
});

test.each([
  [["set", "S", "--amount", "300.00"], 2, "Say whether it is paid once or every month."],
  [["set", "S", "--amount", "300.00", "--once", "--monthly"], 2, "Say whether it is paid once or every month."],
  [["set", "S", "--amount", "300.5", "--once"], 2, "USD is written with 2 decimals"],
  [["set", "S", "--amount", "300.00", "--currency", "JPY", "--once"], 2, "JPY has no decimals"],
  [["set", "S", "--amount", "5.124", "--currency", "KWD", "--once"], 1, "ends in 0"],
  [["set", "S", "--amount", "1000000", "--once"], 1, "at most USD 999,999.99"],
  [["set", "S", "--amount", "1", "--currency", "dollars", "--once"], 2, "three letters"],
  [["set", "S", "--amount", "1", "--currency", "XAU", "--once"], 1, "one that Stripe accepts"],
  [["set", "a b", "--amount", "1", "--once"], 1, "The size of the price is not acceptable."],
  [["set", "S", "--amount", "0", "--once"], 2, "Give more than nothing."],
  [["set", "S", "--amount", "1", "--once", "--from", "7d"], 2, "A price begins now or later."],
  [["set", "S", "--amount", "1", "--once", "--from", "tomorrow"], 2, "A price begins now or later."],
  [["set", "S", "--amount", "1", "--once", "--workspace", "nowhere"], 1, "There is no workspace"],
  [["withdraw", "7", "--reason", "x"], 2, "headroom prices list"],
  [["withdraw", "7f0f2b9e-0000-4000-8000-000000000000", "--reason", "x"], 1, "There is no such price."],
  [["rate", "EUR"], 2, "Give a rate, or --forget"],
  [["rate", "EUR", "1.08", "--forget"], 2, "Give a rate, or --forget"],
  [["rate", "USD", "1"], 1, "other than USD"],
  [["rate", "EUR", "1,08"], 2, "such as 1.08"],
  [["settings", "--self-service", "nobody"], 1, "an active member of the workspace"],
  [["settings", "--session-minutes", "5"], 2, "from 30 to 1440"],
])("%j is refused with an explanation", async (parameters, status, words) => {
  const outcome = await prices(...parameters);
  expect(outcome).toMatchObject({ status, out: "" });
  expect(outcome.err).toContain(words);
});

test("rates are stored digit by digit, and removed", async () => {
  expect((await prices("rates")).out).toContain("No rate is known");
  expect((await prices("rate", "eur", "1.0800001", "--actor", "ada")).out).toContain("One EUR counts as USD 1.0800001");
  expect((await prices("rates")).out).toMatch(/^EUR +USD 1\.0800001 +\S+Z +ada$/m);
  expect((await prices("rate", "EUR", "--forget")).out).toContain("No rate is known for EUR now");
  expect(await pricesJson("rates")).toEqual({ rates: [] });
});

test("settings are shown, and changed one by one", async () => {
  expect((await prices("settings")).out).toMatch(/^self-service wizard +closed$/m);
  const changed = await prices("settings", "--grace-days", "3", "--self-service", "rita", "--currency", "eur");
  expect(changed.out).toMatch(/^currency +EUR$/m);
  expect(changed.out).toMatch(/^self-service wizard +submits as rita$/m);
  await prices("settings", "--no-self-service", "--currency", "USD");
  expect(await pricesJson("settings")).toMatchObject({
    settings: { workspaceId: "acme", currency: "USD", graceDays: 3, holdDays: 14, selfServiceRequester: null },
  });
});
