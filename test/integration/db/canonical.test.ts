/**
 * Addresses and domains are compared in one canonical form: the same in SQL and in TypeScript, on every version and in every collation.
 */
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonicalAddress, canonicalDomain } from "../../../src/db/address.ts";
import { withConnection } from "../../../src/db/connect.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { createEmptyDatabase, createTestDatabase, POSTGRES_VERSIONS, turkish } from "../../helpers/database.ts";
import { codeOf, oneOf } from "../capacity/harness.ts";

const long = (letters: number, of = "a"): string => of.repeat(letters);

/** With the form in which each is compared; undefined: refused. */
const addresses: readonly (readonly [string, string | undefined])[] = [
  ["vera@mail.example", "vera@mail.example"],
  ["Vera.Lo+tag@MAIL.example", "vera.lo+tag@mail.example"],
  ["ISTANBUL@MAIL.EXAMPLE", "istanbul@mail.example"],
  ["vera@XN--Mnchen-3YA.example", "vera@xn--mnchen-3ya.example"],
  ["root@localhost", "root@localhost"],
  ["o'neil!#$%&*+/=?^_`{|}~-@mail.example", "o'neil!#$%&*+/=?^_`{|}~-@mail.example"],
  [`${long(64)}@mail.example`, `${long(64)}@mail.example`],
  [`${long(65)}@mail.example`, undefined],
  [`a@${long(63)}.example`, `a@${long(63)}.example`],
  [`a@${long(64)}.example`, undefined],
  [`a@${`${long(61)}.`.repeat(4)}b`, `a@${`${long(61)}.`.repeat(4)}b`],
  [`abcdefg@${`${long(61)}.`.repeat(4)}b`, undefined],
  // Turkish letters, the Kelvin sign and the long s, which some foldings turn into ASCII.
  ["vera@ma\u0130l.example", undefined],
  ["vera@ma\u0131l.example", undefined],
  ["\u212Aim@mail.example", undefined],
  ["vera@\u212Aim.example", undefined],
  ["je\u017F@mail.example", undefined],
  // Full width, zero width, right-to-left marks, a combining mark, a letter of another script.
  ["ｖera@mail.example", undefined],
  ["vera@ｍail.example", undefined],
  ["vera＠mail.example", undefined],
  ["vera@mail。example", undefined],
  ["ve\u200Bra@mail.example", undefined],
  ["ve\u00ADra@mail.example", undefined],
  ["\uFEFFvera@mail.example", undefined],
  ["vera@mail.example\u2060", undefined],
  ["ver\u202Ea@mail.example", undefined],
  ["vera\u0301@mail.example", undefined],
  ["ver\u0430@mail.example", undefined],
  ["müller@mail.example", undefined],
  ["vera@münchen.example", undefined],
  ["vera\u00A0@mail.example", undefined],
  ["🙂@mail.example", undefined],
  ...[
    "",
    "vera",
    "@mail.example",
    "vera@",
    "vera@mail.example\n",
    "\tvera@mail.example",
    "ve ra@mail.example",
    "vera@mail.example, x@mail.example",
    "vera@x@mail.example",
    '"vera"@mail.example',
    "vera(work)@mail.example",
    "Vera <vera@mail.example>",
    "vera\\@mail.example",
    ".vera@mail.example",
    "vera.@mail.example",
    "ve..ra@mail.example",
    "vera@mail..example",
    "vera@.mail.example",
    "vera@mail.example.",
    "vera@-mail.example",
    "vera@mail-.example",
    "vera@ma_il.example",
    "vera@xn--.example",
    "vera@[192.0.2.1]",
    "vera@192.0.2.1",
    "vera@0x7f000001",
    "vera@mail.1",
    "vera@ma\u007Fil.example",
  ].map((address) => [address, undefined] as const),
];

describe.each(POSTGRES_VERSIONS)("on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const ofDatabase = async (texts: readonly string[], collation: string): Promise<[string | null, string | null][]> => {
    const { rows } = await db.superuser.pool.query<{ address: string | null; domain: string | null }>(
      `select headroom.canonical_address(t collate "${collation}") as address, headroom.canonical_domain(t collate "${collation}") as domain
         from unnest($1::text[]) with ordinality u(t, n) order by n`,
      [texts],
    );
    return rows.map(({ address, domain }) => [address, domain]);
  };
  const collations = ["default", "C", "POSIX", "C.utf8", "tr-x-icu", "lt-x-icu", "en-x-icu", "und-x-icu", "loose"];
  beforeAll(() =>
    db.superuser.pool.query(
      "create collation loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    ),
  );

  test.each(collations)("an address has the form in the table, under %s", async (collation) => {
    const texts = addresses.map(([text]) => text);
    const found = await ofDatabase(texts, collation);
    expect(texts.map((text, at) => [text, found[at]![0] ?? undefined])).toEqual(addresses);
    expect(addresses.map(([text]) => [text, canonicalAddress(text)])).toEqual(addresses);
  });

  test.each(["default", "tr-x-icu"])("any text has the same form in both languages, under %s", async (collation) => {
    const odd = fc.constantFrom(
      ..."aZI@.-_+\u0130\u0131\u212A\u017F\u00DF\u200B\uFF21 \n19".split(""),
      "xn--",
      "@mail.example",
    );
    const text = fc.oneof(
      fc.array(odd, { maxLength: 12 }).map((parts) => parts.join("")),
      fc.array(odd, { maxLength: 6 }).map((parts) => `${parts.join("")}@Mail.example`),
      fc.emailAddress(),
      fc.domain(),
      fc.string({ unit: "grapheme" }).filter((any) => !any.includes("\0")),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 50, maxLength: 200 }), async (texts) => {
        const found = await ofDatabase(texts, collation);
        expect(found).toEqual(texts.map((each) => [canonicalAddress(each) ?? null, canonicalDomain(each) ?? null]));
        const forms = found.flat().filter((form) => form !== null);
        for (const form of forms) expect(canonicalAddress(form) ?? canonicalDomain(form)).toBe(form);
      }),
      { numRuns: 20 },
    );
  });
});

describe("an installation whose database folds letters as Turkish does", async () => {
  const database = await createEmptyDatabase(18, turkish);
  afterAll(() => database[Symbol.asyncDispose]());
  const ask = <T>(text: string, values: unknown[] = []): Promise<T> =>
    withConnection(database.superuserUrl, (client) => oneOf<{ a: T }>(client, `select (${text}) as a`, values)).then(
      ({ a }) => a,
    );
  const issuer = "https://id.example.org";

  const link = (email: string) => ask("(directory.link_by_domain($1, 'sub', $2)).member_id", [issuer, email]);
  const marks = (email: string) =>
    ask<string[]>(
      `array[encode((capacity.marks_of('acme', null, $1)).by_address, 'hex'), encode(notify.address_mark('acme', $1), 'hex')]`,
      [email],
    );

  beforeAll(async () => {
    await withConnection(database.url, (client) => migrate(client));
    await ask("directory.put_workspace('acme', '{\"name\": \"Acme\"}')");
    await ask(`directory.put_member('acme', 'ada', '{"email": "Vera.I@mail.example", "roles": ["admin"]}')`);
    await ask("directory.put_identity_domain('acme', $1, 'mail.example')", [issuer]);
  });

  test("does not sign in an address that only looks like a member's after folding", async () => {
    for (const email of ["vera.i@ma\u0130l.example", "vera.\u0131@mail.example", "VERA.\u0130@MAIL.EXAMPLE"])
      expect(await link(email)).toBeNull();
    expect(await link("VERA.I@MAIL.EXAMPLE")).toBe("ada");
  });

  test("recognises a customer by the canonical address, and by no other that folds to it", async () => {
    const known = await marks("vera.i@mail.example");
    expect(await marks("VERA.I@MAIL.EXAMPLE")).toEqual(known);
    // As it may have been stored before: it matches only itself.
    const odd = [
      "vera.i@ma\u0130l.example",
      "vera.\u0131@mail.example",
      "vera.\u0130@mail.example",
      "ve..ra@mail.example",
    ];
    const all = [known, ...(await Promise.all([...odd, "VE..RA@mail.example"].map(marks)))];
    for (const at of [0, 1]) expect(new Set(all.map((each) => each[at])).size).toBe(all.length);
  });

  test("compares codes and names by ASCII letters", async () => {
    await ask(
      `billing.put_price('acme', '{"size": "i3", "kind": "one_off", "currency": "INR", "unit_amount": 100}', 'ada')`,
    );
    expect(await ask("(billing.price_for('acme', 'I3', 'us-east-1', 30)).size")).toBe("i3");
    expect(await ask("(directory.put_identity_domain('acme', $1, 'I.MAIL.example')).domain", [issuer])).toBe(
      "i.mail.example",
    );
    expect(await ask("notify.time_zone_named('ASIA/ISTANBUL')")).toBe("Asia/Istanbul");
    expect(await ask("inbound.parse_terms('32XL IN EU-WEST-1 EMAIL vera@mail.example') -> 'fields'")).toEqual({
      size: "32XL",
      region: "eu-west-1",
      email: "vera@mail.example",
    });
    expect(await codeOf(ask("webhooks.check_endpoint_url('https://db.INTERNAL/', false)"))).toBe("invalid_input");
  });

  test("keeps mail from people who complained when addresses are hashed differently after an upgrade", async () => {
    const upgrade = await readFile(
      new URL("../../../sql/migrations/0067_billing_canonical.sql", import.meta.url),
      "utf8",
    );
    await withConnection(database.superuserUrl, async (client) => {
      await client.query("begin");
      // As they were stored and hashed before: lower-cased by the database's rules.
      for (const [id, email] of Object.entries({
        mia: "M\u00DCLLER@mail.example",
        ida: "IDA@mail.example",
        tom: "tom@mail.example",
      })) {
        await client.query(
          "insert into directory.members (workspace_id, id, display_name, email) values ('acme', $1, $1, $2)",
          [id, email],
        );
        await client.query(
          `with k as (select hmac.mark from notify.address_keys k, lateral (
                        select headroom.hmac_sha256(k.key, convert_to(lower($1), 'UTF8')) as mark) hmac where k.workspace_id = 'acme'),
                s as (insert into notify.suppressions (workspace_id, address_mark, reason) select 'acme', k.mark, 'complained' from k)
           insert into notify.preferences (workspace_id, whose, category, channel, choice)
           select 'acme', 'address:' || encode(k.mark, 'hex'), 'progress', 'email', 'off' from k`,
          [email],
        );
      }
      await client.query(upgrade);
      const { rows } = await client.query<{ id: string; suppressed: boolean; off: number }>(
        `select m.id, (notify.reach(notify.recipient('acme', 'member', m.id), 'email')).problem = 'suppressed' as suppressed,
                (select count(*)::integer from notify.preferences p
                  where p.whose = 'address:' || encode(notify.address_mark('acme', m.email), 'hex')) as off
           from directory.members m where m.id <> 'ada' order by m.id`,
      );
      await client.query("rollback");
      expect(rows).toEqual(["ida", "mia", "tom"].map((id) => ({ id, suppressed: true, off: 1 })));
    });
  });
});
