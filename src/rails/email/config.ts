/**
 * The settings of the e-mail rail, as data. They choose one of the two transports.
 *
 * Owns: validation and documentation of the settings. Does not own: where they come from.
 */
import { z } from "zod";
import type { RailField } from "../fields.ts";

export interface EmailSettings {
  readonly from: string;
  readonly transport:
    | { readonly kind: "smtp"; readonly url: string }
    | { readonly kind: "postal"; readonly url: string; readonly key: string };
}

/** One address, or a name and an address. It cannot contain the end of a header line or a second recipient. */
const fromPattern =
  /^(?:[^\p{Cc}<>,;:"@]{1,100} <[^\s\p{Cc}<>,;:"()\\@]+@[^\s\p{Cc}<>,;:"()\\@]+>|[^\s\p{Cc}<>,;:"()\\@]+@[^\s\p{Cc}<>,;:"()\\@]+)$/u;

const fields = {
  from: z.string("must be a string").regex(fromPattern, "an address, or a name and an address in angle brackets"),
  smtpUrl: z.url({ protocol: /^smtps?$/, error: "an address that begins with smtps:// or smtp://" }),
  postalUrl: z.url({ protocol: /^https?$/, error: "an http or https address" }),
  postalKey: z.string().regex(/^[\x21-\x7e]{8,500}$/, "8 to 500 printable characters without spaces"),
};

export const emailSettingsSchema = z.object({
  from: fields.from,
  transport: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("smtp"), url: fields.smtpUrl }),
    z.object({ kind: z.literal("postal"), url: fields.postalUrl, key: fields.postalKey }),
  ]),
});

export const emailFields: readonly RailField[] = [
  {
    name: "from",
    label: "Sender",
    help: "The sender of mails. Its domain is also that of the Message-ID.",
    example: "Headroom <capacity@example.com>",
    secret: false,
    required: true,
    schema: fields.from,
  },
  {
    name: "smtpUrl",
    label: "Mail server",
    help: "User name and password are part of the address, percent-encoded, and are sent over TLS only. The alternative is Postal:",
    example: "smtps://user:password@mail.example.com:465",
    secret: true,
    required: false,
    schema: fields.smtpUrl,
  },
  {
    name: "postalUrl",
    label: "Postal's address",
    help: "Where Postal's HTTP API is, without the path of the API.",
    example: "https://postal.example.com",
    secret: false,
    required: false,
    schema: fields.postalUrl,
  },
  {
    name: "postalKey",
    label: "Postal's API key",
    help: "A credential of the kind API of the mail server in Postal.",
    example: "<24 letters>",
    secret: true,
    required: false,
    schema: fields.postalKey,
  },
];

/** The domain of the sender, for the Message-ID. */
export function domainOf(from: string): string {
  return from.slice(from.lastIndexOf("@") + 1).replace(/>$/, "");
}
