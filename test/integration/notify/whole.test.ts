/**
 * Nothing that nobody can read is treated as sent: what one message cannot show goes into the next, and a text that is too long for any is
 * complete in the inbox. Does not own: that Slack accepts them (slack.test.ts).
 */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp } from "../capacity/gateway.ts";
import { rowsOf, startWorkflow } from "../capacity/harness.ts";
import { makeDue, somebody } from "./harness.ts";

interface Thing {
  readonly title: string;
  readonly body: string;
  readonly url: string | null;
}

interface Block {
  readonly type: string;
  readonly text?: { readonly text: string };
  readonly elements?: readonly { readonly text: string | { readonly text: string } }[];
}

interface Message {
  readonly told: readonly string[];
  readonly payload: { readonly blocks?: readonly Block[]; readonly text: string; readonly html?: string };
}

const plain = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
const squeezed = (text: string): string => text.replaceAll(/\s+/g, "");
const texts = ({ blocks = [] }: Message["payload"]): string[] =>
  blocks.flatMap(({ type, text }) => (type === "section" && text !== undefined ? [text.text] : []));

const things: fc.Arbitrary<Thing[]> = fc.array(
  fc.record({
    title: fc.constantFrom("A title", "t".repeat(200), "&".repeat(200), "😀".repeat(100)),
    body: fc
      .tuple(
        fc.constantFrom("x", "word ", "line\n", "p\n\n", "&", '"', "😀", "<b>"),
        fc.constantFrom(1, 100, 1_200, 4_000, 19_000),
      )
      .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)).trim()),
    url: fc.constantFrom(null, "https://example.org/1", `https://example.org/?${"&".repeat(1_900)}`),
  }),
  { minLength: 1, maxLength: 14 },
);

describe.each(POSTGRES_VERSIONS)("messages show everything that they carry, on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;

  const tellAll = async (
    told: readonly Thing[],
    channel: "slack" | "email",
  ): Promise<{ member: string; ids: string[] }> => {
    const member = await somebody(db);
    await rowsOf(db, "update directory.members set slack_user_id = upper('U' || left(md5($1), 12)) where id = $1", [
      member,
    ]);
    const ids: string[] = [];
    for (const { title, body, url } of told) {
      const rows = await rowsOf<{ id: string }>(
        db,
        `select notify.tell(notify.recipient('acme', 'member', $1), $2, notify.content(
                  'reviews', $3, $4, array[$6], p_about => 'CR-1', p_cause => 'planted', p_action_url => $5)) as id`,
        [member, randomUUID(), title, body, url, channel],
      );
      ids.push(rows[0]?.id ?? "");
    }
    await makeDue(db, member);
    await rowsOf(db, "select * from notify.release()");
    return { member, ids };
  };
  const messagesTo = (member: string): Promise<Message[]> =>
    rowsOf<Message>(
      db,
      `select array_agg(p.notification_id::text order by n.created_at, n.id) as told, m.payload
         from notify.deliveries d join outbox.payloads m on m.outbox_id = d.outbox_id join notify.parts p on p.delivery_id = d.id
         join notify.notifications n on n.id = p.notification_id
        where d.recipient = $1 group by d.id, m.payload order by d.released_at, d.id`,
      [member],
    );
  const inboxOf = async (member: string): Promise<string[]> =>
    (
      await overHttp(workflow.db, memberSession(member), (client) =>
        rowsOf<{ id: string }>(client, "select id from public.notifications order by created_at, id", []),
      )
    ).map(({ id }) => id);

  test.each(["slack", "email"] as const)(
    "a digest of 45 notifications by %s names every one of them in the message that carries it",
    async (channel) => {
      const told = Array.from({ length: 45 }, (_, n) => ({
        title: `Thing ${n}.`,
        body: `Body ${n}. ${"z".repeat(900)}`,
        url: null,
      }));
      const { member, ids } = await tellAll(told, channel);
      const messages = await messagesTo(member);
      expect(messages.flatMap(({ told: carried }) => carried)).toEqual(ids);
      expect(messages.length).toBeGreaterThan(1);
      for (const { told: carried, payload } of messages) {
        const shown = JSON.stringify(payload);
        for (const id of carried) {
          expect(shown).toContain(`Thing ${ids.indexOf(id)}.`);
          expect(shown).toContain(`Body ${ids.indexOf(id)}. ${"z".repeat(900)}`);
        }
      }
      expect(await inboxOf(member)).toEqual([]);
    },
  );

  test("every notification in Slack is in its message, within Slack's limits, or completely in the inbox", async () => {
    await fc.assert(
      fc.asyncProperty(things, async (told) => {
        const { member, ids } = await tellAll(told, "slack");
        const messages = await messagesTo(member);
        const inbox = await inboxOf(member);
        expect(messages.flatMap(({ told: carried }) => carried)).toEqual(ids);
        for (const { told: carried, payload } of messages) {
          const sections = texts(payload);
          expect(payload.blocks?.length).toBeLessThanOrEqual(50);
          expect(Math.max(...sections.map((text) => text.length))).toBeLessThanOrEqual(3_000);
          expect(sections.join("").length).toBeLessThanOrEqual(12_000);
          expect(sections.every((text) => text.trim() !== "")).toBe(true);
          const shown = squeezed(plain(sections.join("")));
          for (const { title, body } of carried.map((id) => told[ids.indexOf(id)]!)) {
            expect(shown).toContain(squeezed(title));
            const whole = shown.includes(squeezed(body));
            const id = carried.find((each) => told[ids.indexOf(each)]!.body === body)!;
            expect([whole, inbox.includes(id)]).toEqual([whole, !whole]);
            expect(whole || JSON.stringify(payload).includes("All of it is in your inbox.")).toBe(true);
          }
        }
      }),
      { numRuns: 12 },
    );
  });

  test("every notification by mail is complete in its mail", async () => {
    await fc.assert(
      fc.asyncProperty(things, async (told) => {
        const { member, ids } = await tellAll(told, "email");
        const messages = await messagesTo(member);
        expect(messages.flatMap(({ told: carried }) => carried)).toEqual(ids);
        for (const { told: carried, payload } of messages) {
          const shown = squeezed(payload.text);
          for (const { title, body, url } of carried.map((id) => told[ids.indexOf(id)]!)) {
            if (carried.length > 1) expect(shown).toContain(squeezed(title));
            expect(shown).toContain(squeezed(body));
            expect(shown).toContain(url ?? "");
          }
        }
      }),
      { numRuns: 12 },
    );
  });

  test("what Slack cannot show completely is in the inbox even where its category is switched off there", async () => {
    const member = await somebody(db);
    await rowsOf(db, "update directory.members set slack_user_id = upper('U' || left(md5($1), 12)) where id = $1", [
      member,
    ]);
    await rowsOf(
      db,
      "insert into notify.preferences (workspace_id, whose, category, channel, choice) values ('acme', 'member:' || $1, 'general', 'in-app', 'off')",
      [member],
    );
    const tell = (body: string, channels: string[]) =>
      rowsOf<{ id: string }>(
        db,
        "select notify.tell(notify.recipient('acme', 'member', $1), $2, notify.content('general', 'A title', $3, $4)) as id",
        [member, randomUUID(), body, channels],
      );
    await tell("short", ["in-app", "slack"]);
    const [long] = await tell("word ".repeat(4_000), ["in-app", "slack"]);
    const [alone] = await tell("word ".repeat(4_000), ["slack"]);
    expect(await inboxOf(member)).toEqual([long?.id, alone?.id]);
  });
});
