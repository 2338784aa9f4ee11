/**
 * An endpoint's fields, with their help and their rules, as data.
 *
 * Owns: validation of an endpoint's settings and their documentation. Does not own: whether its address may be
 * reached; that needs the relay's own rules (ssrf.ts) and is decided when the address is dialled.
 */
import { z } from "zod";
import { fieldTable, problemsOf } from "../fields.ts";
import type { RailField } from "../fields.ts";
import { secretProblem } from "./sign.ts";

/** Where a message goes. Treated as immutable: give a new object when a setting changes. */
export interface WebhookEndpoint {
  readonly url: string;
  /** Every valid secret, the newest first; each one signs. */
  readonly secrets: readonly string[];
  /** Sent with every request, for example an authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Only https and public addresses, whatever the relay may reach: for an endpoint that a tenant set. Default: false. */
  readonly publicOnly?: boolean | undefined;
}

/** An endpoint to which nothing is sent for now. */
export interface DisabledEndpoint {
  readonly disabled: true;
  /** The reason, as a code; never a secret. */
  readonly reason: string;
}

const maxSecrets = 4;
const maxHeaders = 20;
const maxHeaderValueChars = 4096;

/** What we or the protocol set; an endpoint that could set them could forge or split requests. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);

const secretSchema = z.string().superRefine((secret, context) => {
  const problem = secretProblem(secret);
  if (problem !== null) context.addIssue({ code: "custom", message: `a secret ${problem}` });
});

const headersSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, "is no header name"),
    z
      .string()
      .max(maxHeaderValueChars, `is longer than ${maxHeaderValueChars} characters`)
      .regex(/^[\t\x20-\x7e]*$/, "a value holds printable ASCII only"),
  )
  .superRefine((headers, context) => {
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    if (names.length > maxHeaders) context.addIssue({ code: "custom", message: `more than ${maxHeaders} headers` });
    if (new Set(names).size < names.length) context.addIssue({ code: "custom", message: "a header is there twice" });
    for (const name of names.filter((each) => reservedHeaders.has(each))) {
      context.addIssue({ code: "custom", message: `${name} is set by the rail` });
    }
  });

const schemas = {
  url: z.string("must be a string").min(1, "must not be empty"),
  secrets: z.array(secretSchema).min(1, "at least one secret").max(maxSecrets, `at most ${maxSecrets} secrets`),
  headers: headersSchema.optional(),
} satisfies Record<Exclude<keyof WebhookEndpoint, "publicOnly">, z.ZodType>;

export const webhookFields: readonly (RailField & { readonly name: keyof WebhookEndpoint })[] = [
  {
    name: "url",
    label: "URL",
    help: "Where to send. HTTPS, no user name or password in it, and a public address unless the relay allows others.",
    example: "https://example.com/hooks/headroom",
    secret: false,
    required: true,
    schema: schemas.url,
  },
  {
    name: "secrets",
    label: "Signing secrets",
    help: "Standard Webhooks secrets, newest first. To rotate: add a new one, let receivers change, remove the old.",
    example: "whsec_<24 to 64 bytes as base64>",
    secret: true,
    required: true,
    schema: schemas.secrets,
  },
  {
    name: "headers",
    label: "Extra headers",
    help: "Sent with every request, for example an authorization. Those of HTTP itself and of the signature are reserved.",
    example: "authorization: Bearer <token>",
    secret: true,
    required: false,
    schema: schemas.headers,
  },
];

export const webhookEndpointSchema = z.object(schemas);

export type EndpointVerdict =
  { readonly ok: true; readonly endpoint: WebhookEndpoint } | { readonly ok: false; readonly reason: string };

/** Checks an endpoint's settings; the reason names fields and rules, never values. */
export function parseWebhookEndpoint(settings: unknown): EndpointVerdict {
  const parsed = webhookEndpointSchema.safeParse(settings);
  return parsed.success ? { ok: true, endpoint: parsed.data } : { ok: false, reason: problemsOf(parsed.error) };
}

/** The reference table of an endpoint's settings. */
export function webhookFieldTable(): string {
  return fieldTable(webhookFields);
}
