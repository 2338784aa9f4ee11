/**
 * A browser's session: a signed cookie that names the member, when the session began, and when it ends.
 *
 * Owns: making, reading and renewing it, and that no other site can use it. Does not own: who may sign in (routes/auth.ts and the
 * database), nor what a member may do (the database). Whether the member is still active and was not signed out meanwhile is
 * asked by the database with every transaction, so the cookie needs no list of its own.
 */
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { HeadroomError } from "../../db/errors.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { isUnsafe, provenanceOf } from "../../web/same-origin.ts";
import { memberSession, type Session } from "./session.ts";
import { cookieKind } from "./cookie.ts";
import { derivedKeys } from "./derived-key.ts";

/** A session that is not used for this long ends. */
export const sessionSeconds = 12 * 60 * 60;
/** The longest that a session lasts, however much it is used. */
const longestSeconds = 7 * 24 * 60 * 60;
/** A session that is older than this is renewed when the browser asks who is signed in. */
const renewAfterSeconds = 60 * 60;
const audience = "headroom:session";

export interface SignedIn {
  readonly workspaceId: string;
  readonly memberId: string;
  /** By the database's clock, in seconds since 1970: signing out ends every session that began earlier. */
  readonly signedInAt: number;
}

export interface CookieSessions {
  /** The Set-Cookie that signs somebody in. */
  issue(who: SignedIn): Promise<string>;
  /** The session of the cookie, if there is a valid one. Throws when another site tries to use it. */
  identify(request: Request): Promise<Session | undefined>;
  /** A Set-Cookie that renews the session, if that is due. */
  renew(request: Request): Promise<string | undefined>;
  clear(): string;
}

const payloadSchema = z.object({
  workspace: z.string(),
  sub: z.string(),
  signed_in_at: z.number(),
  iat: z.number(),
  exp: z.number(),
});
type Payload = z.infer<typeof payloadSchema>;

export function createCookieSessions(
  { keys, publicUrl }: Pick<HttpDependencies, "keys" | "publicUrl">,
  now: () => number,
): CookieSessions {
  const cookie = cookieKind("headroom_session", publicUrl);
  const signingKeys = derivedKeys(keys, "session");
  const seconds = (): number => Math.floor(now() / 1000);

  const issue = async ({ workspaceId, memberId, signedInAt }: SignedIn): Promise<string> => {
    const lasts = Math.min(sessionSeconds, Math.floor(signedInAt) + longestSeconds - seconds());
    const token = await new SignJWT({ workspace: workspaceId, signed_in_at: signedInAt })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(memberId)
      .setAudience(audience)
      .setIssuedAt(seconds())
      .setExpirationTime(seconds() + lasts)
      .sign(signingKeys[0]);
    return cookie.set(token, Math.max(0, lasts));
  };
  const read = async (request: Request): Promise<Payload | undefined> => {
    const token = cookie.read(request);
    return token === undefined ? undefined : verify(token, signingKeys, new Date(now()));
  };

  return {
    issue,
    async identify(request) {
      const payload = await read(request);
      if (payload === undefined) return undefined;
      if (isUnsafe(request.method) && provenanceOf(request, publicUrl) !== "own") {
        throw new HeadroomError("not_allowed", "This request came from another site. Nothing was changed.", {
          hint: "Use our own pages, or send a token as Authorization: Bearer.",
        });
      }
      return sessionOf(payload);
    },
    async renew(request) {
      const payload = await read(request);
      if (payload === undefined || seconds() - payload.iat < renewAfterSeconds) return undefined;
      return issue({ workspaceId: payload.workspace, memberId: payload.sub, signedInAt: payload.signed_in_at });
    },
    clear: () => cookie.clear(),
  };
}

async function verify(token: string, keys: readonly Uint8Array[], currentDate: Date): Promise<Payload | undefined> {
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, key, { algorithms: ["HS256"], audience, currentDate });
      return payloadSchema.parse(payload);
    } catch {
      // Expired, forged or signed with another key: in each case nobody is signed in.
    }
  }
  return undefined;
}

function sessionOf({ workspace, sub, signed_in_at, exp }: Payload): Session {
  const { role, claims } = memberSession({ workspaceId: workspace, memberId: sub, via: "web" });
  return { role, claims: { ...claims, signed_in_at, exp } };
}
