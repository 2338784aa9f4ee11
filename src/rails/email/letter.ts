/**
 * The payload of rows for e-mail, as sql/functions/notify/text/email_letter.sql writes it, and the letter that is sent.
 *
 * The row does not contain links: their tokens are made at the moment of sending, so that no table, archive or log holds them. There are
 * three kinds: the customer's link, the link to an order in the self-service wizard (a letter has at most one of these two), and the link
 * to unsubscribe from mails of this kind.
 *
 * Owns: the form of payloads, filling in the links, and the headers about them. Does not own: texts, or how a token is made.
 */
import { z } from "zod";
import { sha256 } from "../../db/hash.ts";
import { parseUrl } from "../../db/parse-url.ts";

/** The placeholder of each kind of link, and the path of the link below its base address. */
const kinds = {
  confirmation: { place: "{{confirmation_link}}", path: (token: string) => `/confirm/${token}` },
  draft: { place: "{{draft_link}}", path: (token: string) => `/${token}/4` },
  unsubscribe: { place: "{{unsubscribe_link}}", path: (token: string) => `/unsubscribe/${token}` },
} as const;
export type LinkKind = keyof typeof kinds;
const kindNames = ["confirmation", "draft", "unsubscribe"] as const satisfies readonly LinkKind[];

/** The same rule as capacity.email_of_customer(): one address, without anything that could end a header. */
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
  /** Without angle brackets, and the same for every try of a row. */
  readonly messageId: string;
  /** The row's id, by which Postal's webhooks name the mail: Postal replaces the Message-ID. */
  readonly tag: string;
  /** The headers that depend on the letter's content. Their values cannot contain a line break. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A link to fill in: its kind, what its token is made from, and its base address. */
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
  /** The sender's domain. */
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
    // Below the base address, which may have a path already.
    const link = `${base.replace(/\/+$/, "")}${path(encodeURIComponent(tokens[kind] ?? ""))}`;
    text = text.replaceAll(place, () => link);
    html = html?.replaceAll(place, () => escapeHtml(link));
    if (kind === "unsubscribe") stop = link;
  }
  return {
    to,
    // A line break here would begin another header.
    subject: subject.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "),
    text,
    ...(html === undefined ? {} : { html }),
    messageId: `${outboxId}@${domain}`,
    tag: outboxId,
    headers: { ...threadHeaders(payload.thread, domain), ...stopHeaders(stop) },
  };
}

/**
 * All mails about one thing reply to the same mail, which was never sent, so that mail programs show them as one conversation in any order.
 * The subject's key is hashed, so that it can neither break a header nor be read by the servers that relay the mail.
 */
function threadHeaders(thread: LetterPayload["thread"], domain: string): Record<string, string> {
  if (thread === null || thread === undefined) return {};
  const root = `<${sha256(JSON.stringify([thread.workspace, thread.about])).slice(0, 32)}@${domain}>`;
  return { "In-Reply-To": root, References: root };
}

/** RFC 8058 requires https; an http link, as in a sandbox, appears only in the text. */
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
