/**
 * Rendering any text: control characters, emoji, a hundred kilobytes, markup. One server version is enough, since this is about text.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/contract/rail.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { complaintsAbout, type Message } from "./block-kit.ts";
import { type Mail, render, root, tell, textOf } from "./renderers.ts";
import { confirmationRequired, rejected, type Story, submitted } from "./story.ts";

/** A text and the length it is repeated to; kept apart so that a report shows both and not a hundred kilobytes. */
interface Wild {
  readonly text: string;
  readonly characters: number;
}

const spelledOut = ({ text, characters }: Wild): string =>
  text.repeat(Math.ceil(characters / Math.max(text.length, 1)));

/** Characters as people see them. */
const segments = (text: string): string[] => [...new Intl.Segmenter("en").segment(text)].map(({ segment }) => segment);

/** What Slack makes of an escaped text. */
const shown = (text: string): string => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** Every tag with its attributes. */
const elementsOf = ({ html }: Mail): string[] => html.match(/<[^<>]*>/g) ?? [];

describe("any input", async () => {
  const db = await createTestDatabase();

  /** Texts known to break messages. JSON in Postgres cannot hold NUL, so it never gets this far. */
  const wild: fc.Arbitrary<Wild> = fc.record({
    text: fc.oneof(
      fc.string({ unit: "binary", maxLength: 50 }).map((text) => text.replaceAll("\u0000", "")),
      fc.string({ unit: "grapheme", maxLength: 50 }),
      fc.constantFrom(
        "<!channel>",
        "&amp;",
        "<https://evil.example|click>",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "{{confirmation_link}}",
        "{",
        "\u001b[31m",
        "\n",
        "\u202e",
        '"\\',
        "$id",
        "![x](https://evil.example)",
        "</p><script>",
      ),
    ),
    characters: fc.constantFrom(0, 1, 100, 300, 3_001, 100_000),
  });

  const stories = { submitted, confirmationRequired, rejected };
  const recipe = fc.record({
    base: fc.constantFrom("submitted", "confirmationRequired", "rejected"),
    name: wild,
    customer: wild,
    reason: wild,
    what: wild,
    note: wild,
    priced: fc.boolean(),
  });
  type Recipe = typeof recipe extends fc.Arbitrary<infer T> ? T : never;

  function storyOf(given: Recipe): Story {
    const [name, what, note, buyer] = [given.name, given.what, given.note, given.customer].map(spelledOut) as [
      string,
      string,
      string,
      string,
    ];
    return {
      ...stories[given.base],
      customer: buyer,
      what,
      reason: note,
      justification: buyer,
      workspace_name: name,
      needed_by: note,
      offer: given.priced ? { words: name, interval: what } : null,
      people: { rita: { name, slack: name }, cora: { name: buyer, slack: null }, tess: { name, slack: null } },
      items: Array.from({ length: 30 }, (_, index) =>
        index < 2 ? { id: name, what, step: note, since: 1 } : { id: "CR-1", what: "w", step: "s", since: 1 },
      ),
      slack: "U0RITA",
      member: "rita",
    };
  }

  const runs = { numRuns: 60 };

  test("keeps Block Kit's limits, and Slack reads none of it as markup", async () => {
    await fc.assert(
      fc.asyncProperty(recipe, async (ingredients) => {
        const given = storyOf(ingredients);
        expect(complaintsAbout(await root(db, given))).toEqual([]);
        expect(complaintsAbout(await render<Message>(db, "render_slack_reply", given))).toEqual([]);
        expect(complaintsAbout(await tell<Message>(db, "digest", "slack", given, "U0TESS"))).toEqual([]);
      }),
      runs,
    );
  });

  test("makes no mail with a second header, another element or another link", async () => {
    const harmless = await Promise.all(
      ["offer", "cancelled", "digest"].map((template) => tell<Mail>(db, template, "email", submitted)),
    );
    const elements = harmless.flatMap(elementsOf);
    await fc.assert(
      fc.asyncProperty(recipe, async (ingredients) => {
        const given = storyOf(ingredients);
        const asking = await tell<Mail>(db, "offer", "email", given);
        const closing = await tell<Mail>(db, "cancelled", "email", given);
        const digest = await tell<Mail>(db, "digest", "email", given);
        for (const mail of [asking, closing, digest]) {
          expect(mail.subject.length).toBeLessThanOrEqual(200);
          // oxlint-disable-next-line no-control-regex -- these are what must not be there
          expect(mail.subject).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          expect(mail.html.replace(/<style>[^<]*<\/style>/, "").replaceAll(/<[^<>]*>/g, "")).not.toMatch(/[<>"]/);
          expect(elements).toEqual(expect.arrayContaining(elementsOf(mail)));
          const links = [...mail.text.matchAll(/\{\{/g)].length;
          expect([links, [...mail.html.matchAll(/\{\{/g)].length]).toEqual(mail === asking ? [1, 1] : [0, 0]);
        }
      }),
      runs,
    );
  });

  test("becomes no link, image or mention in Linear, and no issue with a title that is too long", async () => {
    await fc.assert(
      fc.asyncProperty(recipe, async (ingredients) => {
        const given = storyOf(ingredients);
        const issue = await render<{ input: { title: string; description: string } }>(db, "render_linear_issue", given);
        const comment = await render<{ input: { body: string } }>(db, "render_linear_comment", given);
        expect(issue.input.title.length).toBeLessThanOrEqual(255);
        for (const markdown of [issue.input.description, comment.input.body]) {
          expect(markdown.length).toBeLessThanOrEqual(20_000);
          expect(markdown.replaceAll(/\\[\\`*_[\]<>#!|~@]/g, "").replaceAll("**", "")).not.toMatch(/[[\]<`@]/);
        }
      }),
      runs,
    );
  });

  test("keeps the customer, the actor and every free text out of the CloudEvent", async () => {
    const marked: Story = {
      ...rejected,
      customer: "SECRET",
      email: "SECRET@x.example",
      reason: "SECRET",
      actor: "SECRET",
      requester: "SECRET",
      owner: "SECRET",
      people: { SECRET: { name: "SECRET", slack: "SECRET" } },
    };
    expect(JSON.stringify(await render<Json>(db, "render_event", marked))).not.toContain("SECRET");
  });

  const clusters = fc.array(fc.constantFrom("a", "&", "<", "é", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "1️⃣", "汉", "𝔘", "❤️‍🔥"), {
    maxLength: 40,
  });

  test("is cut between grapheme clusters, never inside one", async () => {
    await fc.assert(
      fc.asyncProperty(clusters, fc.integer({ min: 12, max: 90 }), async (parts, most) => {
        const text = parts.join("");
        const made = await textOf(db, "render_text", text, most);
        expect(made.length).toBeLessThanOrEqual(most);
        if (text.length <= most) {
          expect(made).toBe(text);
          return;
        }
        expect(made.endsWith("…")).toBe(true);
        const kept = segments(made.slice(0, -1));
        expect(kept).toEqual(segments(text).slice(0, kept.length));
      }),
      { numRuns: 200 },
    );
  });

  test("is escaped completely: Slack shows the beginning of what was written", async () => {
    await fc.assert(
      fc.asyncProperty(clusters, fc.integer({ min: 12, max: 90 }), async (parts, most) => {
        const text = parts.join("");
        const made = await textOf(db, "slack_text", text, most);
        expect(made.length).toBeLessThanOrEqual(most);
        const kept = shown(made.endsWith("…") ? made.slice(0, -1) : made);
        expect(text.startsWith(kept)).toBe(true);
        expect(segments(text).slice(0, segments(kept).length).join("")).toBe(kept);
      }),
      { numRuns: 200 },
    );
  });
});
