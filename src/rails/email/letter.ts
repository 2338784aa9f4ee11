/**
 * What rows for e-mail say, as sql/functions/notify/text/email_letter.sql writes them, and the letter that is sent.
 *
 * A link is not in the row: its token is made at the moment of sending, so that it stands in no table, no archive and no log. There are
 * three kinds: the customer's link and that of an order in the self-service wizard, of which a letter has one at most, and the link by which
 * somebody stops mails of this kind.
 *
 * Owns: the form of payloads, filling in the links, and the headers that follow from them. Does not own: texts, or how a token is made.
 */
import { z } from "zod";
import { sha256 } from "../../db/hash.ts";
import { parseUrl } from "../../db/parse-url.ts";

/** Where each kind of link stands in a text, and where it leads below its address. */
const kinds = {
  confirmation: { place: "{{confirmation_link}}", path: (token: string) => `/confirm/${token}` },
  draft: { place: "{{draft_link}}", path: (token: string) => `/${token}/4` },
  unsubscribe: { place: "{{unsubscribe_link}}", path: (token: string) => `/unsubscribe/${token}` },
} as const;
export type LinkKind = keyof typeof kinds;
const kindNames = ["confirmation", "draft", "unsubscribe"] as const satisfies readonly LinkKind[];

/** The same rule as capacity.email_of_customer(): one address, and nothing that could end a header. */
const address = z
  .string()
  .max(320)
  .regex(/^[^@\s\p{Cc},;:<>()"\\]+@[^@\s\p{Cc},;:<>()"\\]+$/u, "one address");

export const letterSchema = z
  .object({
    to: address,
    subject: z.string().min(1).max(1_000),
    text: z.string().min(1),
    html: z.string().min(1).optional(),
    confirmation_token_id: z.uuid().nullish(),
    confirmation_base_url: z.url({ protocol: /^https?$/ }).nullish(),
    draft_id: z.uuid().nullish(),
    draft_base_url: z.url({ protocol: /^https?$/ }).nullish(),
    unsubscribe: z.object({ id: z.uuid(), base: z.url({ protocol: /^https?$/ }) }).nullish(),
    thread: z.object({ about: z.string().min(1).max(100), workspace: z.string().min(1).max(100) }).nullish(),
  })
  .superRefine((letter, context) => {
    const asks = (kind: LinkKind): boolean =>
      letter.text.includes(kinds[kind].place) || letter.html?.includes(kinds[kind].place) === true;
    const has = new Set(linksIn(letter).map(({ kind }) => kind));
    if (kindNames.some((kind) => asks(kind) !== has.has(kind)) || (has.has("confirmation") && has.has("draft"))) {
      context.addIssue({ code: "custom", message: "a link needs a place, a token's id and an address to lead to" });
    }
  });

export type LetterPayload = z.infer<typeof letterSchema>;

/** A letter as a transport sends it. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Without angle brackets; the same for every try of a row. */
  readonly messageId: string;
  /** The row's id, by which Postal's webhooks name the mail again: Postal gives it another Message-ID. */
  readonly tag: string;
  /** Those that depend on what the letter says; what stands in them can end no line. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A link that the letter waits for: its kind, what its token is made from, and the address that it leads to. */
export interface AwaitedLink {
  readonly kind: LinkKind;
  readonly id: string;
  readonly base: string;
}

type LinkFields = Partial<
  Record<"confirmation_token_id" | "confirmation_base_url" | "draft_id" | "draft_base_url", string | null>
> & { readonly unsubscribe?: { readonly id: string; readonly base: string } | null | undefined };

export function linksIn(payload: {
  readonly [field in keyof LinkFields]: LinkFields[field] | undefined;
}): AwaitedLink[] {
  const given: Record<LinkKind, readonly [string | null | undefined, string | null | undefined]> = {
    confirmation: [payload.confirmation_token_id, payload.confirmation_base_url],
    draft: [payload.draft_id, payload.draft_base_url],
    unsubscribe: [payload.unsubscribe?.id, payload.unsubscribe?.base],
  };
  return kindNames.flatMap((kind) => {
    const [id, base] = given[kind];
    return typeof id === "string" && typeof base === "string" ? [{ kind, id, base }] : [];
  });
}

export interface Postmark {
  readonly outboxId: string;
  /** Of the sender. */
  readonly domain: string;
}

/** The letter with its links filled in, each with its token. */
export function letterOf(
  payload: LetterPayload,
  { outboxId, domain }: Postmark,
  tokens: Readonly<Partial<Record<LinkKind, string>>> = {},
): Letter {
  const { to, subject } = payload;
  let { text, html } = payload;
  let stop: string | undefined;
  for (const { kind, base } of linksIn(payload)) {
    const { place, path } = kinds[kind];
    // Below the address, whatever path it has already.
    const link = `${base.replace(/\/+$/, "")}${path(encodeURIComponent(tokens[kind] ?? ""))}`;
    text = text.replaceAll(place, () => link);
    html = html?.replaceAll(place, () => escapeHtml(link));
    if (kind === "unsubscribe") stop = link;
  }
  return {
    to,
    // A line break here would begin a header of its own.
    subject: subject.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "),
    text,
    ...(html === undefined ? {} : { html }),
    messageId: `${outboxId}@${domain}`,
    tag: outboxId,
    headers: { ...threadHeaders(payload.thread, domain), ...stopHeaders(stop) },
  };
}

/**
 * All mails about one thing answer the same mail, which was never sent: mail programs show them as one conversation, whichever came first.
 * What it is about is hashed, so that nothing of it can break a header or be read by whoever relays the mail.
 */
function threadHeaders(thread: LetterPayload["thread"], domain: string): Record<string, string> {
  if (thread === null || thread === undefined) return {};
  const root = `<${sha256(JSON.stringify([thread.workspace, thread.about])).slice(0, 32)}@${domain}>`;
  return { "In-Reply-To": root, References: root };
}

/** RFC 8058 wants https; a link by http, as in a sandbox, stands in the text alone. */
function stopHeaders(link: string | undefined): Record<string, string> {
  const url = link === undefined ? null : parseUrl(link);
  if (url?.protocol !== "https:") return {};
  return { "List-Unsubscribe": `<${url.href}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
