/**
 * Who calls: one check for each kind of credential, made before the handler runs.
 *
 * Owns: where in a request a credential is, and the refusal when it is missing. Does not own: tokens (tokens.ts), session cookies
 * (cookie-session.ts), nor the signatures of providers.
 */
import { HeadroomError } from "../../db/errors.ts";
import { isSameSecret } from "../../db/hash.ts";
import { createCookieSessions } from "./cookie-session.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createRevocationCheck } from "./revocation.ts";
import type { Credentials } from "../route.ts";
import { anonymous, serviceSession, type Session } from "./session.ts";
import { createTokenVerifier, requireLong, type TokenVerdict } from "./tokens.ts";

/** Finds the session, or throws the refusal. */
export type CredentialCheck = (request: Request) => Promise<Session>;

export function createCredentialChecks(
  dependencies: HttpDependencies,
  now: () => number,
): Readonly<Record<Credentials, CredentialCheck>> {
  const { database, keys } = dependencies;
  const relaySecrets = relaySecretsOf(dependencies);
  const verifier = createTokenVerifier(keys, now);
  const cookies = createCookieSessions(dependencies, now);
  const checkRevocation = createRevocationCheck(database);

  // A key is usually a token, and then its claims apply. A key that is not a token is compared as text.
  const sessionOfKey = async (key: string): Promise<TokenVerdict> => {
    const verdict = await verifier.verify(key);
    if (verdict.kind !== "refused" || key.split(".").length === 3) return verdict;
    if (isSameSecret(key, keys.anonKey)) return { kind: "session", session: anonymous };
    return isSameSecret(key, keys.serviceKey) ? { kind: "session", session: serviceSession() } : verdict;
  };
  const sessionOfBearer = async (request: Request): Promise<Session | undefined> => {
    const bearer = bearerOf(request);
    return bearer === undefined ? undefined : accept(await sessionOfKey(bearer));
  };

  return {
    none: () => Promise.resolve(anonymous),
    signature: () => Promise.resolve(anonymous),
    async apikey(request) {
      const key = request.headers.get("apikey");
      const keySession = key === null ? undefined : await sessionOfKey(key);
      if (keySession !== undefined && keySession.kind !== "session") {
        throw refusal("invalid_api_key", "Invalid API key", "Use the anon key or the service key of this server.");
      }
      const bearer = await sessionOfBearer(request);
      // Every transaction checks the session that it runs as; nothing else checks the key that was sent with it.
      if (bearer !== undefined && keySession !== undefined) await checkRevocation(keySession.session);
      const session = bearer ?? keySession?.session;
      if (session !== undefined) return session;
      throw refusal(
        "no_api_key",
        "No API key found in request",
        "Send the key in the header apikey, and a token as Authorization: Bearer.",
      );
    },
    async member(request) {
      // A bearer token first: no other site can make a browser send one, so a cookie sent with it needs no check.
      const session = (await sessionOfBearer(request)) ?? (await cookies.identify(request));
      if (session?.role === "authenticated") return session;
      throw refusal("not_signed_in", "This needs a member who is signed in.", "Sign in and try again.");
    },
    async service(request) {
      const session = (await sessionOfBearer(request)) ?? (await sessionOfApiKey(request, sessionOfKey));
      if (session?.role === "service_role") return session;
      throw refusal("not_allowed", "This needs the service key.", "Send it as Authorization: Bearer.");
    },
    async "relay-secret"(request) {
      const secret = request.headers.get("x-outbox-secret");
      if (secret !== null && relaySecrets.some((known) => isSameSecret(secret, known))) return anonymous;
      throw refusal("not_allowed", "This needs the relay's secret.", "Send it as X-Outbox-Secret.");
    },
  };
}

/** Without a current secret, the previous one is not accepted either. */
function relaySecretsOf({ relaySecret, previousRelaySecret }: HttpDependencies): string[] {
  if (relaySecret === undefined) return [];
  requireLong(relaySecret, "The secret that wakes the relay (HEADROOM_RELAY_SECRET)");
  if (previousRelaySecret === undefined) return [relaySecret];
  requireLong(previousRelaySecret, "The previous one (HEADROOM_RELAY_SECRET_PREVIOUS)");
  return [relaySecret, previousRelaySecret];
}

async function sessionOfApiKey(
  request: Request,
  sessionOfKey: (key: string) => Promise<TokenVerdict>,
): Promise<Session | undefined> {
  const key = request.headers.get("apikey");
  return key === null ? undefined : accept(await sessionOfKey(key));
}

function bearerOf(request: Request): string | undefined {
  const match = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "");
  return match?.[1];
}

function accept(verdict: TokenVerdict): Session {
  if (verdict.kind === "session") return verdict.session;
  if (verdict.kind === "refused") throw new InvalidToken(verdict.reason);
  throw new HeadroomError("invalid_input", `role "${verdict.role}" does not exist`, {
    sqlState: "22023",
    httpStatus: 400,
  });
}

/** A token that was sent and is not valid; the REST API has its own message for this. */
export class InvalidToken extends HeadroomError {
  constructor(reason: string) {
    super("invalid_token", reason, { httpStatus: 401, hint: "Sign in again, or send a token that is still valid." });
  }
}

function refusal(code: string, message: string, hint: string): HeadroomError {
  return new HeadroomError(code, message, { httpStatus: 401, hint });
}
