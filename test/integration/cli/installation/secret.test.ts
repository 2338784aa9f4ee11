/** `headroom secret …`: secrets go in through standard input and never come out. */
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");
const secretKey = "0123456789abcdef0123456789abcdef";
const env = { DATABASE_URL: control.url, HEADROOM_SECRET_KEY: secretKey };

/** As `printf … | headroom secret …` does. */
const piped = (value: string, parameters: readonly string[], more: Record<string, string> = env): Promise<Outcome> =>
  headroom(["secret", ...parameters], { env: more, stdin: value });

test("a secret is stored encrypted, listed by name, and shown nowhere", async () => {
  const value = "xoxb-very-secret-token";
  const stored = await piped(`${value}\n`, ["set", "SLACK_BOT_TOKEN"]);
  expect(stored).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^SLACK_BOT_TOKEN is stored\.\nRelays use it for slack and slack-interaction, unless/),
    err: "",
  });
  const kept = await db.superuser.pool.query("select encode(box, 'escape') as box from headroom.boxes");
  expect(kept.rows).toHaveLength(1);
  expect(JSON.stringify(kept.rows)).not.toContain(value);
  const listed = await headroom(["secret", "list", "--json"], { env });
  expect(JSON.parse(listed.out).secrets).toMatchObject([{ name: "SLACK_BOT_TOKEN", keptIn: "table", readable: true }]);
  expect(listed.out).not.toContain(value);
});

test("under another key the list says that it cannot be read", async () => {
  const other = { ...env, HEADROOM_SECRET_KEY: "f".repeat(32) };
  const listed = await headroom(["secret", "list"], { env: other });
  expect(listed.out).toContain("no, encrypted with another HEADROOM_SECRET_KEY");
});

test.each([
  ["a name in small letters", "v", ["set", "slack"], env, "capital letters"],
  ["an empty value", "\n", ["set", "EMPTY"], env, "1 to 16384 bytes"],
  ["no key", "v", ["set", "ANY"], { DATABASE_URL: control.url }, "HEADROOM_SECRET_KEY"],
])("%s is refused with a way out, and nothing is stored", async (_title, value, parameters, environment, says) => {
  const before = await db.superuser.pool.query("select name from headroom.boxes order by 1");
  const refused = await piped(value, parameters, environment);
  expect(refused).toMatchObject({ status: 1, out: "" });
  expect(refused.err).toContain(says);
  const after = await db.superuser.pool.query("select name from headroom.boxes order by 1");
  expect(after.rows).toEqual(before.rows);
});
