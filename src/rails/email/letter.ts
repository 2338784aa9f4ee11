/**
 * What rows for e-mail say, as sql/functions/capacity/email/email_letter.sql writes them, and the letter that is sent.
 *
 * A link is not in the row: its token is made at the moment of sending, so that it stands in no table, no archive and no log. There are
 * two kinds, the customer's link and that of an order in the self-service wizard, and a letter has one at most.
 *
 * Owns: the form of payloads and filling in the link. Does not own: texts, or how the token is made.
 */
import { z } from "zod";

/** Where each kind of link stands in a text, and where it leads below its address. */
const kinds = {
  confirmation: { place: "{{confirmation_link}}", path: (token: string) => `/confirm/${token}` },
  draft: { place: "{{draft_link}}", path: (token: string) => `/${token}/4` },
} as const;
export type LinkKind = keyof typeof kinds;

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
  })
  .superRefine((letter, context) => {
    const asks = (kind: LinkKind): boolean =>
      letter.text.includes(kinds[kind].place) || letter.html?.includes(kinds[kind].place) === true;
    const confirms =
      typeof letter.confirmation_token_id === "string" && typeof letter.confirmation_base_url === "string";
    const drafts = typeof letter.draft_id === "string" && typeof letter.draft_base_url === "string";
    if (asks("confirmation") !== confirms || asks("draft") !== drafts || (confirms && drafts)) {
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
}

/** The link that the letter waits for: its kind, what its token is made from, and the address that it leads to. */
export function linkIn(
  payload: LetterPayload,
): { readonly kind: LinkKind; readonly id: string; readonly base: string } | undefined {
  const {
    confirmation_token_id: tokenId,
    confirmation_base_url: base,
    draft_id: draftId,
    draft_base_url: wizard,
  } = payload;
  if (typeof tokenId === "string") return { kind: "confirmation", id: tokenId, base: base ?? "" };
  return typeof draftId === "string" ? { kind: "draft", id: draftId, base: wizard ?? "" } : undefined;
}

export function letterOf(payload: LetterPayload, messageId: string, token: string | undefined): Letter {
  const { to, subject, text, html } = payload;
  const { kind = "confirmation", base = "" } = linkIn(payload) ?? {};
  const { place, path } = kinds[kind];
  // Below the address, whatever path it has already.
  const link = token === undefined ? "" : `${base.replace(/\/+$/, "")}${path(encodeURIComponent(token))}`;
  return {
    to,
    // A line break here would begin a header of its own.
    subject: subject.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "),
    text: text.replaceAll(place, () => link),
    ...(html === undefined ? {} : { html: html.replaceAll(place, () => escapeHtml(link)) }),
    messageId,
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
