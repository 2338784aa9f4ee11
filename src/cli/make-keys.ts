/**
 * Makes keys: random ones, and the signed tokens that clients present as keys.
 *
 * Owns: how long and how random they are. Does not own: checking them (src/http/auth/tokens.ts), nor where they are kept.
 */
import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";

/** The issuer of our tokens, unless the environment sets another. */
export const tokenIssuer = "headroom";

/** Which tokens are trusted: who issued them, and for whom. */
export interface TokenScope {
  /** Our own tokens have the first one. */
  readonly issuers?: readonly string[] | undefined;
  readonly audience?: string | undefined;
}

/** HEADROOM_JWT_ISSUER (several with commas between them) and HEADROOM_JWT_AUDIENCE: for the server, and for the keys made for it. */
export function tokenScope(env: NodeJS.ProcessEnv): TokenScope {
  const issuers = (env["HEADROOM_JWT_ISSUER"] ?? "").split(",").map((issuer) => issuer.trim());
  const audience = env["HEADROOM_JWT_AUDIENCE"]?.trim();
  return {
    issuers: issuers.filter((issuer) => issuer !== ""),
    audience: audience === "" ? undefined : audience,
  };
}

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

export interface TokenOptions extends TokenScope {
  readonly jwtSecret: string;
  /** Null: it does not expire, and is valid until the secret changes or it is revoked. */
  readonly expiresAt: Date | null;
}

export async function signToken(claims: TokenClaims, options: TokenOptions): Promise<string> {
  const { jwtSecret, expiresAt, issuers = [], audience } = options;
  const token = new SignJWT({ ...claims }).setProtectedHeader({ alg: "HS256", typ: "JWT" });
  token.setIssuer(issuers[0] ?? tokenIssuer).setIssuedAt();
  if (audience !== undefined) token.setAudience(audience);
  if (expiresAt !== null) token.setExpirationTime(expiresAt);
  return token.sign(new TextEncoder().encode(jwtSecret));
}

export interface GatewayKeySet {
  readonly jwtSecret: string;
  readonly anonKey: string;
  readonly serviceKey: string;
}

/** A secret and the two keys that it signs: one that any client may have, and one for machines. */
export async function makeGatewayKeys(scope: TokenScope = {}): Promise<GatewayKeySet> {
  const jwtSecret = randomKey();
  const forever = { ...scope, jwtSecret, expiresAt: null };
  return {
    jwtSecret,
    anonKey: await signToken({ role: "anon" }, forever),
    serviceKey: await signToken({ role: "service_role" }, forever),
  };
}
