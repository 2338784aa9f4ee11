/**
 * An OpenID Connect provider: discovery, keys, a sign-in page on which a visitor picks who to be, codes with PKCE, tokens and userinfo.
 *
 * Owns: the protocol and its refusals. Does not own: which member of Headroom's directory an account is.
 */
import type { KeyObject } from "node:crypto";
import { Hono } from "hono";
import { exportJWK, SignJWT, type JWK } from "jose";
import { z } from "zod";
import { isSameSecret, sha256 } from "../../db/hash.ts";
import type { Person } from "../sample-data.ts";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import type { World } from "../core/world.ts";
import { pickerPage, refusedPage } from "./page.ts";
import { tokenLifeSeconds, type OidcState } from "./state.ts";

const keyId = "sandbox-1";

const authorizeSchema = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  response_type: z.literal("code"),
  scope: z.string().regex(/(^| )openid( |$)/, "must contain openid"),
  state: z.string().optional(),
  nonce: z.string().optional(),
  code_challenge: z.string().regex(/^[\w-]{43}$/, "must be the S256 of a verifier"),
  code_challenge_method: z.literal("S256"),
});
export type AuthorizeRequest = z.infer<typeof authorizeSchema>;

const tokenSchema = z.object({
  grant_type: z.literal("authorization_code"),
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});

export function oidcRoutes(world: World, state: OidcState, key: KeyObject): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/oidc/.well-known/openid-configuration", (context) =>
    answer(context, world, { provider: "oidc", method: "discovery", body: {} }, dialect, () =>
      Response.json(discovery(world)),
    ),
  );
  routes.get("/oidc/jwks", (context) =>
    answer(context, world, { provider: "oidc", method: "jwks", body: {} }, dialect, async () =>
      Response.json({ keys: [await publicJwk(key)] }),
    ),
  );
  routes.get("/oidc/authorize", async (context) => {
    const asked = await readAuthorize(state, context.req.query());
    return asked instanceof Response ? asked : pickerPage(world.sampleData, asked);
  });
  routes.post("/oidc/authorize", async (context) => {
    const form: unknown = await readForm(context);
    const asked = await readAuthorize(state, form);
    return asked instanceof Response ? asked : decide(world, state, asked, form);
  });
  routes.post("/oidc/token", async (context) => {
    const body: unknown = await readForm(context);
    return answer(context, world, { provider: "oidc", method: "token", body }, dialect, () =>
      token(context, world, state, key, body),
    );
  });
  routes.on(["GET", "POST"], "/oidc/userinfo", (context) =>
    answer(context, world, { provider: "oidc", method: "userinfo", body: {} }, dialect, () => userinfo(context, state)),
  );
  return routes;
}

function issuerOf(world: World): string {
  return `${world.url()}/oidc`;
}

function discovery(world: World): Record<string, unknown> {
  const issuer = issuerOf(world);
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    scopes_supported: ["openid", "email", "profile"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    claims_supported: ["sub", "name", "email", "email_verified"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
}

/**
 * Until client and redirect are verified, nothing is sent anywhere: the browser gets a page here. Afterwards a refusal goes back
 * to the client, as the protocol requires.
 */
async function readAuthorize(state: OidcState, given: unknown): Promise<AuthorizeRequest | Response> {
  const target = z
    .looseObject({ client_id: z.string(), redirect_uri: z.string(), state: z.string().optional() })
    .safeParse(given);
  if (!target.success || target.data.client_id !== state.client.clientId) {
    return refusedPage("This client is not known here.", `The only client here is ${state.client.clientId}.`);
  }
  if (!state.redirectUris.includes(target.data.redirect_uri)) {
    return refusedPage(
      "This redirect is not registered.",
      `Registered: ${state.redirectUris.join(", ") || "none, because Headroom is not connected"}.`,
    );
  }
  const asked = authorizeSchema.safeParse(given);
  if (asked.success) return asked.data;
  const [issue] = asked.error.issues;
  const error =
    issue?.path[0] === "response_type"
      ? "unsupported_response_type"
      : issue?.path[0] === "scope"
        ? "invalid_scope"
        : "invalid_request";
  return back(target.data.redirect_uri, {
    error,
    error_description: `${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? ""}`,
    state: target.data.state,
  });
}

function decide(world: World, state: OidcState, asked: AuthorizeRequest, form: unknown): Response {
  const picked = z.looseObject({ person: z.string() }).safeParse(form).data?.person;
  const person = world.sampleData.people.find(({ memberId }) => memberId === picked);
  const shared = { state: asked.state, iss: issuerOf(world) };
  if (person === undefined) return back(asked.redirect_uri, { error: "access_denied", ...shared });
  const code = state.newCode({
    person,
    redirectUri: asked.redirect_uri,
    challenge: asked.code_challenge,
    nonce: asked.nonce,
    scope: asked.scope,
  });
  return back(asked.redirect_uri, { code, ...shared });
}

function back(redirectUri: string, fields: Readonly<Record<string, string | undefined>>): Response {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) url.searchParams.set(name, value);
  return new Response(null, { status: 303, headers: { location: url.href, "cache-control": "no-store" } });
}

async function token(
  context: SandboxContext,
  world: World,
  state: OidcState,
  key: KeyObject,
  body: unknown,
): Promise<Response> {
  const asked = tokenSchema.safeParse(body);
  if (!asked.success) {
    const wrongGrant = asked.error.issues.some(({ path }) => path[0] === "grant_type");
    return refusal(400, wrongGrant ? "unsupported_grant_type" : "invalid_request");
  }
  if (!isClient(context, state, asked.data)) return refusal(401, "invalid_client");
  const grant = state.redeem(asked.data.code);
  const challenge = sha256(asked.data.code_verifier, "base64url");
  if (grant === undefined || grant.redirectUri !== asked.data.redirect_uri || grant.challenge !== challenge) {
    return refusal(400, "invalid_grant");
  }
  const issuedAt = Math.floor(world.now() / 1000);
  const idToken = await new SignJWT({
    ...claimsOf(grant.person),
    ...(grant.nonce === undefined ? {} : { nonce: grant.nonce }),
  })
    .setProtectedHeader({ alg: "RS256", kid: keyId, typ: "JWT" })
    .setIssuer(issuerOf(world))
    .setAudience(state.client.clientId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + tokenLifeSeconds)
    .sign(key);
  return Response.json(
    {
      access_token: state.newToken(grant.person),
      token_type: "Bearer",
      expires_in: tokenLifeSeconds,
      scope: grant.scope,
      id_token: idToken,
    },
    { headers: { "cache-control": "no-store" } },
  );
}

/** Authenticates by the header, by the form, or, for a public client, only by its id. */
function isClient(context: SandboxContext, state: OidcState, asked: z.infer<typeof tokenSchema>): boolean {
  const basic = /^Basic (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  const [basicId, basicSecret] =
    basic === undefined ? [] : Buffer.from(basic, "base64").toString().split(":").map(formDecode);
  const id = basicId ?? asked.client_id;
  const secret = basicSecret ?? asked.client_secret;
  if (id !== state.client.clientId) return false;
  const wanted = state.client.clientSecret;
  return wanted === undefined || (secret !== undefined && isSameSecret(secret, wanted));
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function userinfo(context: SandboxContext, state: OidcState): Response {
  const given = /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1] ?? "";
  const person = state.personOf(given);
  if (person !== undefined) return Response.json(claimsOf(person));
  return new Response(null, { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
}

function claimsOf(person: Person): Record<string, unknown> {
  return { sub: person.memberId, name: person.name, email: person.email, email_verified: true };
}

async function publicJwk(key: KeyObject): Promise<JWK> {
  const { kty, n, e } = await exportJWK(key);
  return {
    ...(kty === undefined ? {} : { kty }),
    ...(n === undefined ? {} : { n }),
    ...(e === undefined ? {} : { e }),
    kid: keyId,
    alg: "RS256",
    use: "sig",
  };
}

function refusal(status: number, error: string): Response {
  return Response.json({ error }, { status, headers: { "cache-control": "no-store" } });
}

const dialect: Dialect = {
  failed: () => Response.json({ error: "server_error" }, { status: 500 }),
  rateLimited: (seconds) =>
    Response.json({ error: "temporarily_unavailable" }, { status: 429, headers: { "retry-after": String(seconds) } }),
  refused: (words) => Response.json({ error: "access_denied", error_description: words }, { status: 400 }),
};
