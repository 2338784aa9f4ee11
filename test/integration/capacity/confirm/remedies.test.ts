/** The remedy advised for a customer who is not asked is accepted in the state in which it is advised, with a price and without. */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { customer, linearRail, slackRail, startSurfaces, surfaceRail } from "../surfaces.ts";
import { oneOf, rowsOf, type RequestInput } from "../harness.ts";

const publicUrl = "https://capacity.acme.example";
const waiting = "CUSTOMER_CONFIRMATION_REQUIRED";

describe.each(POSTGRES_VERSIONS)("remedies for a customer who is not asked, on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const { db, superuser } = surfaces;
  const control = db.as("headroom_control").pool;

  beforeAll(async () => {
    await superuser.query(`alter database ${db.name} set headroom.secret_key = '0123456789abcdef0123456789abcdef'`);
    const client = await db.as("headroom_control").connect();
    await client.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", ["c".repeat(40)]);
    await client.end();
  });

  const setAddress = (id: string, email: string): Promise<unknown> =>
    rowsOf(control, "select public.set_customer_address($1, $2, 'cora')", [id, email]);
  const sendLink = (id: string): Promise<unknown> =>
    rowsOf(control, "select public.send_confirmation_link($1, 'cora')", [id]);
  const unasked = async (id: string): Promise<string | null> =>
    (
      await oneOf<{ u: string | null }>(
        superuser,
        "select customer_unasked as u from public.capacity_requests where id = $1",
        [id],
      )
    ).u;
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

  beforeAll(() =>
    rowsOf(
      superuser,
      `insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by)
       values ('acme', 'PRICED', 'one_off', 'USD', 30000, 'test')`,
    ),
  );

  /** Brings a request to a state in which its customer is not asked for that reason. */
  const ways: Readonly<Record<string, (input: RequestInput) => Promise<string>>> = {
    no_address: (input) => surfaces.createIn(waiting, input),
    bad_address: (input) => surfaces.createIn(waiting, { ...input, customer: { email: "a@x, b@x" } }),
    async no_public_url(input) {
      await surfaces.settings({ public_url: null });
      return surfaces.createIn(waiting, { ...input, customer });
    },
    async not_sent(input) {
      await surfaces.settings({ public_url: null });
      const id = await surfaces.createIn(waiting, { ...input, customer });
      await surfaces.settings({ public_url: publicUrl });
      return id;
    },
    async mail_failed(input) {
      const id = await surfaces.createIn(waiting, { ...input, customer });
      await giveUp(id);
      return id;
    },
    async erased(input) {
      const id = await surfaces.createIn(waiting, { ...input, customer });
      await rowsOf(control, "select public.erase_customer($1, 'They asked for it.', 'ada')", [id]);
      return id;
    },
  };
  const remedyOf = `select capacity.unasked_remedy(capacity.unasked(r.id, r.state), r.id, r.state::text, r.offer is not null) as remedy
                      from capacity.requests r where r.id = $1`;
  const did: readonly (readonly [advised: RegExp, run: (id: string) => Promise<unknown>])[] = [
    [/\/capacity address CR/, (id) => setAddress(id, "name@example.com")],
    [/Mail it (?:again )?with \/capacity link CR/, (id) => sendLink(id)],
    [
      /--public-url; then \/capacity link CR/,
      async (id) => {
        await surfaces.settings({ public_url: publicUrl });
        return sendLink(id);
      },
    ],
    [/record their answer/, (id) => surfaces.apply(id, "CUSTOMER_CONFIRMED", "cora")],
    [/record their answer/, (id) => surfaces.apply(id, "CUSTOMER_DECLINED", "cora")],
    [/that they declined/, (id) => surfaces.apply(id, "CUSTOMER_DECLINED", "cora")],
  ];
  const cases = Object.keys(ways).flatMap((code) => ["SMALL", "PRICED"].map((size) => [code, size] as const));

  test.each(cases)("%s, of a %s", async (code, size) => {
    let taken = 0;
    for (const [advised, run] of did) {
      await surfaces.settings({ public_url: publicUrl });
      const id = await ways[code]!({ size });
      expect(await unasked(id)).toBe(code);
      const { remedy } = await oneOf<{ remedy: string }>(superuser, remedyOf, [id]);
      if (!advised.test(remedy)) continue;
      taken += 1;
      await run(id);
    }
    expect(taken).toBeGreaterThan(0);
    await surfaces.settings({ public_url: publicUrl });
  });

  test("also while the request is under review", async () => {
    const id = await surfaces.createIn("UNDER_REVIEW", { size: "PRICED" });
    const { remedy } = await oneOf<{ remedy: string }>(superuser, remedyOf, [id]);
    expect(remedy).toContain(`/capacity address ${id}`);
    await setAddress(id, "name@example.com");
  });
});
