/**
 * Signs a webhook by Standard Webhooks.
 *
 * Owns: the three headers. Does not own: where secrets are kept. The text that is signed is the text that is sent, so
 * a receiver that checks raw bytes and one that checks decoded text both agree with us.
 */
import { Webhook } from "standardwebhooks";

/** The prefix of a symmetric secret in Standard Webhooks. */
export const secretPrefix = "whsec_";
const minSecretBytes = 24;
const maxSecretBytes = 64;

/** Null if the secret is usable, otherwise the end of a sentence that begins "a secret …". */
export function secretProblem(secret: string): string | null {
  if (!secret.startsWith(secretPrefix)) return `must start with ${secretPrefix}`;
  const encoded = secret.slice(secretPrefix.length);
  const bytes = Buffer.from(encoded, "base64");
  // Buffer skips what is not base64, so the secret must survive the round trip.
  if (bytes.toString("base64") !== encoded) return "must be base64 after its prefix";
  if (bytes.length >= minSecretBytes && bytes.length <= maxSecretBytes) return null;
  return `must hold ${minSecretBytes} to ${maxSecretBytes} bytes`;
}

export interface SignedHeaders {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

/** Signs with every valid secret; during a rotation a receiver may hold the old or the new one. */
export type Signer = (id: string, at: Date, body: string) => SignedHeaders;

export function createSigner(secrets: readonly string[]): Signer {
  const keys = secrets.map((secret) => new Webhook(secret));
  return (id, at, body) => ({
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": keys.map((key) => key.sign(id, at, body)).join(" "),
  });
}
