/**
 * What rows for e-mail say, as sql/functions/capacity/email/email_letter.sql writes them, and the letter that is sent.
 *
 * The confirmation link is not in the row: its token is made at the moment of sending, so that it stands in no table, no
 * archive and no log.
 *
 * Owns: the form of payloads and filling in the link. Does not own: texts, or how the token is made.
 */
import { z } from "zod";

const placeholder = "{{confirmation_link}}";

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
  })
  .superRefine((letter, context) => {
    const asks = letter.text.includes(placeholder) || letter.html?.includes(placeholder) === true;
    const can = typeof letter.confirmation_token_id === "string" && typeof letter.confirmation_base_url === "string";
    if (asks !== can) {
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

export function letterOf(payload: LetterPayload, messageId: string, token: string | undefined): Letter {
  const { to, subject, text, html } = payload;
  const link = token === undefined ? "" : linkOf(payload.confirmation_base_url ?? "", token);
  return {
    to,
    // A line break here would begin a header of its own.
    subject: subject.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "),
    text: text.replaceAll(placeholder, () => link),
    ...(html === undefined ? {} : { html: html.replaceAll(placeholder, () => escapeHtml(link)) }),
    messageId,
  };
}

/** Below the address, whatever path it has already. */
function linkOf(base: string, token: string): string {
  return `${base.replace(/\/+$/, "")}/confirm/${encodeURIComponent(token)}`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
