/**
 * Remembers a sign-in between leaving for the identity provider and coming back, in an encrypted cookie of ten minutes. So the server
 * keeps nothing about people who never come back, and any process can complete the sign-in.
 */
import { EncryptJWT, jwtDecrypt } from "jose";
import { z } from "zod";
import type { HttpDependencies } from "../dependencies.ts";
import { cookieKind } from "./cookie.ts";
import { derivedKeys } from "./derived-key.ts";
import { parseUrl } from "../../db/parse-url.ts";

const flowSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
});
export type SignInFlow = z.infer<typeof flowSchema>;

export interface SignInFlows {
  remember(flow: SignInFlow): Promise<string>;
  /** Undefined when no sign-in was started in this browser, or it was too long ago. */
  recall(request: Request): Promise<SignInFlow | undefined>;
  forget(): string;
}

const lastsSeconds = 600;

export function createSignInFlows(
  { keys, publicUrl }: Pick<HttpDependencies, "keys" | "publicUrl">,
  now: () => number,
): SignInFlows {
  const cookie = cookieKind("headroom_sign_in", publicUrl);
  const encryptionKeys = derivedKeys(keys, "sign-in");
  return {
    async remember(flow) {
      const sealed = await new EncryptJWT({ ...flow })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
        .setExpirationTime(Math.floor(now() / 1000) + lastsSeconds)
        .encrypt(encryptionKeys[0]);
      return cookie.set(sealed, lastsSeconds);
    },
    async recall(request) {
      const sealed = cookie.read(request);
      if (sealed === undefined) return undefined;
      for (const key of encryptionKeys) {
        try {
          const { payload } = await jwtDecrypt(sealed, key, { currentDate: new Date(now()) });
          return flowSchema.parse(payload);
        } catch {
          // Too old, or not ours: treated as missing.
        }
      }
      return undefined;
    },
    forget: () => cookie.clear(),
  };
}

/** One slash at the beginning, and neither a slash nor a backslash after it: two of them would name a host. */
const ownPath = /^\/(?![/\\])[\x21-\x7e]*$/;

/** A path of ours to come back to. Anything else, such as another site's address, becomes the default. */
export function returnPath(wanted: string | null | undefined): string {
  const fallback = "/auth/me";
  if (wanted === null || wanted === undefined || wanted.length > 500 || !ownPath.test(wanted)) return fallback;
  // Browsers drop some characters and replace others before they determine the host; this parser does the same.
  const parsed = parseUrl(wanted, "http://own.invalid");
  if (parsed?.origin !== "http://own.invalid") return fallback;
  // Taking dots out of a path can leave two slashes at its beginning, which name a host again.
  const path = `${parsed.pathname}${parsed.search}`;
  return ownPath.test(path) ? path : fallback;
}
