/** `headroom request …` where there is a price: what the customer pays, and that nobody confirms for them. */
import { beforeAll, expect, test } from "vitest";
import { putGroup, putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");

const request = (...parameters: string[]): Promise<Outcome> =>
  headroom(["request", ...parameters], { env: { DATABASE_URL: control.url } });

const asked = "--as ann --size 32XL --quantity 4 --region us-east-1 --owner olga --group infra --days 90".split(" ");

beforeAll(async () => {
  const { pool } = control;
  await putMember(pool, "default", "ann", { roles: ["requester"] });
  await putMember(pool, "default", "olga", { roles: ["commercial"] });
  await putMember(pool, "default", "tom", { roles: ["operator"] });
  await putGroup(pool, "default", "infra", { name: "Infra team", add: ["tom"] });
  await pool.query("select billing.put_price('default', $1, 'test')", [
    JSON.stringify({ size: "32XL", duration_days: 90, kind: "one_off", currency: "USD", unit_amount: 90_000 }),
  ]);
  await pool.query("select billing.put_price('default', $1, 'test')", [
    JSON.stringify({ size: "32XL", kind: "recurring", currency: "KWD", unit_amount: 5_120 }),
  ]);
});

test("a preview says what the customer would pay, which depends on the duration", async () => {
  expect((await request("preview", ...asked)).out).toContain(
    "The customer would pay USD 3,600.00 once to confirm it.\n",
  );
  const { out } = await request("preview", ...asked, "--days", "30", "--json");
  expect(JSON.parse(out)).toMatchObject({
    offer: { kind: "recurring", amount: 20_480, interval: "month", monthlyUsd: null, words: "KWD 20.480" },
  });
});

test("a request shows its price and, while it waits for the customer, how it is confirmed", async () => {
  const created = await request("create", ...asked);
  expect(created.out).toContain("The customer pays USD 3,600.00 once to confirm it.\n");
  const id = /CR-\d+-\d+/.exec(created.out)?.[0] ?? "";
  for (const who of ["olga", "tom"]) expect((await request("approve", id, "--as", who)).status).toBe(0);

  const shown = await request("show", id);
  expect(shown.out).toMatch(/^price +USD 3,600\.00 once$/m);
  expect(shown.out).toContain("Paying USD 3,600.00 once is the confirmation.");
  expect(shown.out).toContain(`headroom request decline ${id} --as olga`);
  expect(shown.out).not.toContain("headroom request confirm");
  const json = await request("show", id, "--json");
  expect(JSON.parse(json.out)).toMatchObject({ request: { offer: { monthlyUsd: "1200", amount: 360_000 } } });

  const refused = await request("confirm", id, "--as", "olga");
  expect(refused.status).toBe(1);
  expect(refused.err).toContain("Paying is the confirmation: only the customer can give it, by the link in their mail");
  expect((await request("decline", id, "--as", "olga")).status).toBe(0);
});
