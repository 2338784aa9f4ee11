/**
 * Verifies bearer tokens: HS256 with the configured secret, or the previous one while it is being replaced, and nothing else.
 *
 * Owns: signature, times, audience, issuer and role of a token. Does not own: where in a request a token is
 * (credentials.ts), nor making one (the command line).
 *
 * Verified tokens are cached until they expire, up to a limit, because a client sends the same token with every request.
 */
import { errors as joseErrors, jwtVerify, type JWTPayload } from "jose";
import { HeadroomError } from "../../db/errors.ts";
import type { GatewayKeys } from "../dependencies.ts";
import { sessionRoles, type Session, type SessionRole } from "./session.ts";

export type TokenVerdict =
  | { readonly kind: "session"; readonly session: Session }
  /** `reason` is shown to the caller; it contains no secret. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown-role"; readonly role: string };

export interface TokenVerifier {
  verify(token: string): Promise<TokenVerdict>;
}

const maxTokenChars = 8_192;
const maxRemembered = 1_000;
/** Synchronized clocks differ by less than this. */
export const clockToleranceSeconds = 30;

interface Remembered {
  readonly verdict: TokenVerdict;
  readonly notAfterMs: number;
}

export function createTokenVerifier(keys: GatewayKeys, now: () => number): TokenVerifier {
  const secrets = [keys.jwtSecret, keys.previousJwtSecret]
    .filter((secret) => secret !== undefined)
    .map((secret) => new TextEncoder().encode(requireLong(secret, "A secret that tokens are checked with")));
  const remembered = new Map<string, Remembered>();
  return {
    async verify(token) {
      const known = remembered.get(token);
      if (known !== undefined && now() < known.notAfterMs) return known.verdict;
      remembered.delete(token);
      const verified = await verifyToken(token, secrets, keys, now());
      if (verified.verdict.kind === "session") {
        if (remembered.size >= maxRemembered) remembered.delete(remembered.keys().next().value ?? "");
        remembered.set(token, verified);
      }
      return verified.verdict;
    },
  };
}

const shortestSecret = 32;

/** A short secret can be guessed from one token that it signed; an empty one is known to everybody. */
export function requireLong(secret: string, what: string): string {
  if (secret.length >= shortestSecret) return secret;
  throw new HeadroomError("usage", `${what} is shorter than ${shortestSecret} characters.`, {
    hint: "Make keys with `headroom keys init`.",
  });
}

function refuse(reason: string): Remembered {
  return { verdict: { kind: "refused", reason }, notAfterMs: 0 };
}

async function verifyToken(
  token: string,
  secrets: readonly Uint8Array[],
  keys: GatewayKeys,
  nowMs: number,
): Promise<Remembered> {
  const { issuers = [] } = keys;
  if (token.length > maxTokenChars) return refuse("JWT too long");
  const parts = token.split(".").length;
  if (parts !== 3) {
    return refuse(`JWSError (CompactDecodeError Invalid number of parts: Expected 3 parts; got ${parts})`);
  }
  try {
    const payload = await payloadOf(token, secrets, nowMs);
    // Once configured, they are required: a token without an audience may be meant for another service.
    if (keys.audience !== undefined && ![payload.aud ?? []].flat().includes(keys.audience)) {
      return refuse("JWT not in audience");
    }
    if (issuers.length > 0 && !issuers.includes(payload.iss ?? "")) return refuse("JWT from another issuer");
    const role = payload["role"] ?? "anon";
    const verdict: TokenVerdict = isRole(role)
      ? { kind: "session", session: { role, claims: payload } }
      : { kind: "unknown-role", role: typeof role === "string" ? role.slice(0, 64) : typeof role };
    const expiresMs = payload.exp === undefined ? Infinity : (payload.exp + clockToleranceSeconds) * 1000;
    return { verdict, notAfterMs: Math.min(expiresMs, nowMs + 300_000) };
  } catch (error) {
    return refuse(reasonOf(error, token));
  }
}

/** Only a signature that does not match leads to the next secret. Any other fault refuses the token. */
async function payloadOf(token: string, secrets: readonly Uint8Array[], nowMs: number): Promise<JWTPayload> {
  const [secret = new Uint8Array(), ...others] = secrets;
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: ["HS256"],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(nowMs),
    });
    return payload;
  } catch (error) {
    if (others.length === 0 || !(error instanceof joseErrors.JWSSignatureVerificationFailed)) throw error;
    return payloadOf(token, others, nowMs);
  }
}

function isRole(value: unknown): value is SessionRole {
  return sessionRoles.some((role) => role === value);
}

/** In PostgREST's words, because clients may already look for them. */
function reasonOf(error: unknown, token: string): string {
  if (error instanceof joseErrors.JWTExpired) return "JWT expired";
  if (error instanceof joseErrors.JWTClaimValidationFailed) {
    return error.claim === "nbf" ? "JWT not yet valid" : "Parsing claims failed";
  }
  if (error instanceof joseErrors.JWSSignatureVerificationFailed) return "JWSError JWSInvalidSignature";
  if (token.endsWith(".")) return "JWSError JWSNoSignatures";
  return "JWSError JWSInvalidSignature";
}
