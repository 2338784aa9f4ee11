/**
 * Makes keys: random ones, and the signed tokens that clients present as keys.
 *
 * Owns: how long and how random they are. Does not own: checking them (src/http/tokens.ts), nor where they are kept.
 */
import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";

/** Who made a token; the server believes no other issuer when it is told so. */
export const tokenIssuer = "headroom";

/** 256 bits, in characters that need no quoting anywhere. */
export function randomKey(): string {
  return randomBytes(32).toString("base64url");
}

export interface TokenClaims {
  readonly role: "anon" | "authenticated" | "service_role";
  readonly sub?: string;
  readonly key_id?: string;
  readonly app_metadata?: { readonly workspace_id: string; readonly member_id: string };
}

export interface TokenOptions {
  readonly jwtSecret: string;
  /** Null: it does not expire, and only a new secret or a revocation ends it. */
  readonly expiresAt: Date | null;
}

export async function signToken(claims: TokenClaims, { jwtSecret, expiresAt }: TokenOptions): Promise<string> {
  const token = new SignJWT({ ...claims }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).setIssuer(tokenIssuer);
  token.setIssuedAt();
  if (expiresAt !== null) token.setExpirationTime(expiresAt);
  return token.sign(new TextEncoder().encode(jwtSecret));
}

export interface GatewayKeySet {
  readonly jwtSecret: string;
  readonly anonKey: string;
  readonly serviceKey: string;
}

/** A secret and the two keys that it signs: one that any client may have, and one for machines. */
export async function makeGatewayKeys(): Promise<GatewayKeySet> {
  const jwtSecret = randomKey();
  const forever = { jwtSecret, expiresAt: null };
  return {
    jwtSecret,
    anonKey: await signToken({ role: "anon" }, forever),
    serviceKey: await signToken({ role: "service_role" }, forever),
  };
}
