/**
 * Keys for the server's own cookies, derived from the secret that signs tokens: one secret to keep, and still no cookie can be used as
 * a token, nor one kind of cookie as another.
 */
import { hkdfSync } from "node:crypto";
import type { GatewayKeys } from "../dependencies.ts";

export type CookiePurpose = "session" | "sign-in";

/** The newest first; there are two while the secret is being changed. */
export function derivedKeys(keys: GatewayKeys, purpose: CookiePurpose): readonly [Uint8Array, ...Uint8Array[]] {
  const derive = (secret: string): Uint8Array =>
    new Uint8Array(hkdfSync("sha256", secret, "", `headroom cookie ${purpose}`, 32));
  const newest = derive(keys.jwtSecret);
  return keys.previousJwtSecret === undefined ? [newest] : [newest, derive(keys.previousJwtSecret)];
}
