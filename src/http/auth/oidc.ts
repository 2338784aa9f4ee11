/**
 * Signing in at an OpenID Connect provider, any that has a discovery document: the authorization code flow with PKCE, state and nonce.
 *
 * Owns: the conversation with the provider, and what it proved about an account. Does not own: which member that is (the
 * database), nor the cookie that holds a flow together (sign-in-flow.ts).
 */
import * as client from "openid-client";
import { HeadroomError } from "../../db/errors.ts";
import type { SignInFlow } from "./sign-in-flow.ts";

export interface OidcSettings {
  /** As the provider's discovery document writes it. Plain http is for stand-ins on the same machine. */
  readonly issuer: string;
  readonly clientId: string;
  /** Left out for a public client. */
  readonly clientSecret?: string | undefined;
  /** The text on the button. Default: the issuer's host. */
  readonly name?: string | undefined;
  /** Default: `openid email profile`. */
  readonly scope?: string | undefined;
}

/** An account as the provider vouches for it. */
export interface OidcAccount {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
}

export type SignInOutcome =
  | { readonly kind: "account"; readonly account: OidcAccount }
  /** The person declined at the provider, or the provider refused them. */
  | { readonly kind: "declined" }
  /** The answer does not belong to the sign-in that was started, or does not verify. `code` is for the log. */
  | { readonly kind: "invalid"; readonly code: string };

export interface OidcProvider {
  readonly name: string;
  /** Where to send the browser, and what must be remembered until it comes back. */
  begin(): Promise<{ readonly url: string; readonly flow: Omit<SignInFlow, "returnTo"> }>;
  finish(search: string, flow: SignInFlow): Promise<SignInOutcome>;
}

/** A provider that takes longer is treated as down, because a person is waiting for the page. */
const timeoutSeconds = 10;
const discoveryLastsMs = 24 * 60 * 60 * 1000;

export function createOidcProvider(settings: OidcSettings, publicUrl: string, now: () => number): OidcProvider {
  const redirectUri = `${publicUrl}/auth/oidc/callback`;
  let discovered: { readonly at: number; readonly configuration: Promise<client.Configuration> } | undefined;

  /** Fetched once a day; a failure is not kept. */
  const configurationOf = async (): Promise<client.Configuration> => {
    if (discovered === undefined || now() - discovered.at > discoveryLastsMs) {
      discovered = { at: now(), configuration: discover(settings) };
    }
    try {
      return await discovered.configuration;
    } catch (cause) {
      discovered = undefined;
      throw unreachable(cause);
    }
  };

  return {
    name: settings.name ?? new URL(settings.issuer).host,
    async begin() {
      const configuration = await configurationOf();
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope ?? "openid email profile",
        response_type: "code",
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: "S256",
        state: flow.state,
        nonce: flow.nonce,
      });
      return { url: url.href, flow };
    },
    async finish(search, flow) {
      const configuration = await configurationOf();
      // From the configured address: Host and scheme as a proxy forwards them must not change what is compared.
      return exchange(configuration, new URL(redirectUri + search), flow);
    },
  };
}

function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
  const insecure = issuer.startsWith("http://");
  return client.discovery(
    new URL(issuer),
    clientId,
    undefined,
    clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret),
    { timeout: timeoutSeconds, execute: insecure ? [client.allowInsecureRequests] : [] },
  );
}

async function exchange(configuration: client.Configuration, url: URL, flow: SignInFlow): Promise<SignInOutcome> {
  try {
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: flow.verifier,
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) return { kind: "invalid", code: "no_id_token" };
    const described =
      claims["email"] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
        ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : claims;
    const email = described["email"];
    return {
      kind: "account",
      account: {
        issuer: claims.iss,
        subject: claims.sub,
        email: typeof email === "string" ? email : undefined,
        emailVerified: described["email_verified"] === true,
      },
    };
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError) return { kind: "declined" };
    if (isItsFailure(error)) throw unreachable(error);
    if (error instanceof client.ResponseBodyError) return { kind: "invalid", code: error.error };
    if (error instanceof client.ClientError) return { kind: "invalid", code: error.code ?? "client_error" };
    throw unreachable(error);
  }
}

/** An answer of 500 and up, in whatever form. */
function isItsFailure(error: unknown): boolean {
  // The library wraps the answer in one error or in two. We recognise an answer by its fields, because the server's adapter replaces
  // Response with its own class.
  const cause = error instanceof Error ? error.cause : undefined;
  return [cause, cause instanceof Error ? cause.cause : undefined].some((answer) => statusOf(answer) >= 500);
}

function statusOf(answer: unknown): number {
  return typeof answer === "object" && answer !== null && "status" in answer && typeof answer.status === "number"
    ? answer.status
    : 0;
}

function unreachable(cause: unknown): HeadroomError {
  return new HeadroomError("provider_unreachable", "The identity provider did not answer correctly.", {
    hint: "Try again in a moment.",
    httpStatus: 502,
    cause,
  });
}
