/**
 * Whether a webhook really comes from its provider: the signatures of Stripe and Postal, over the raw bytes.
 *
 * Owns: the signature schemes. Does not own: the keys, which the database keeps, and what comes from Slack, Linear, GitHub and runs, which
 * the database verifies.
 */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { Stripe } from "stripe";

export type Provider = "stripe" | "postal";

export interface Received {
  readonly body: Uint8Array;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Any of the keys will do: during a rotation there are two. */
export type Verifier = (received: Received, keys: readonly string[]) => boolean;

export const verifiers: Readonly<Record<Provider, Verifier>> = {
  stripe: ({ body, headers }, keys) => {
    const signature = headers["stripe-signature"];
    return signature !== undefined && keys.some((key) => isStripes(body, signature, key));
  },
  // Postal also signs with SHA-1, in another header, which is ignored.
  postal: ({ body, headers }, keys) => {
    const signature = headers["x-postal-signature-256"];
    if (signature === undefined || !/^[A-Za-z0-9+/]{40,2000}={0,2}$/.test(signature)) return false;
    return keys.some((key) => isPostals(body, Buffer.from(signature, "base64"), key));
  },
};

/** The SDK's own check: the bytes, every v1 signature, and five minutes. */
function isStripes(body: Uint8Array, signature: string, key: string): boolean {
  try {
    Stripe.webhooks.constructEvent(Buffer.from(body), signature, key);
    return true;
  } catch (error) {
    // A signed body that is not JSON is still from Stripe; it is refused later, with a better message.
    return error instanceof SyntaxError;
  }
}

function isPostals(body: Uint8Array, signature: Buffer, key: string): boolean {
  const publicKey = publicKeyOf(key);
  return publicKey?.asymmetricKeyType === "rsa" && verify("sha256", body, publicKey, signature);
}

/** In PEM, or as Postal shows it: the base64 inside. */
function publicKeyOf(key: string): KeyObject | undefined {
  try {
    if (key.includes("-----BEGIN")) return createPublicKey(key);
    return createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
