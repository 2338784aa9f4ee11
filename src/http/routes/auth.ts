/**
 * Signing in and out with a browser, and who is signed in.
 *
 * Owns: the way from an identity provider, or from the sandbox's picker, to a session cookie. Does not own: which member an account is
 * (public.sign_in_member), the cookie (auth/cookie-session.ts), nor the pages.
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { createCookieSessions, type CookieSessions, type SignedIn } from "../auth/cookie-session.ts";
import { createOidcProvider, type OidcAccount, type OidcProvider } from "../auth/oidc.ts";
import { createSignInFlows, returnPath, type SignInFlows } from "../auth/sign-in-flow.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { readForm } from "../request/form.ts";
import { pageResponse } from "../pages/page.ts";
import { mePage, signedOutPage, signInFailedPage, signInPage, type Persona } from "../pages/sign-in.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";
import { provenanceOf } from "../../web/same-origin.ts";
import type { Session } from "../auth/session.ts";

interface Tools {
  readonly dependencies: HttpDependencies;
  readonly sessions: CookieSessions;
  readonly flows: SignInFlows;
  readonly provider: OidcProvider | undefined;
}

/** Enough for people, too few for guessing. */
const rate = { burst: 30, perSecond: 1 } as const;
const limits = { rate, bodyBytes: 8_192 } as const;

export function authRoutes(dependencies: HttpDependencies): RouteEntry[] {
  const now = dependencies.now ?? Date.now;
  const { oidc, publicUrl } = dependencies;
  const tools: Tools = {
    dependencies,
    sessions: createCookieSessions(dependencies, now),
    flows: createSignInFlows(dependencies, now),
    provider: oidc === undefined ? undefined : createOidcProvider(oidc, publicUrl, now),
  };
  const page = { credentials: "none", limits, errors: "page" } as const;
  return [
    defineRoute({
      ...page,
      method: "GET",
      path: "/auth/sign-in",
      summary: "The page for signing in.",
      handler: (context) => choose(context, tools),
    }),
    defineRoute({
      ...page,
      method: "GET",
      path: "/auth/oidc/start",
      summary: "Sends the browser to the identity provider.",
      handler: (context) => begin(context, tools),
    }),
    defineRoute({
      ...page,
      method: "GET",
      path: "/auth/oidc/callback",
      summary: "Where the identity provider sends the browser back to.",
      handler: (context) => finish(context, tools),
    }),
    defineRoute({
      ...page,
      method: "POST",
      path: "/auth/sign-out",
      summary: "Ends the session of this browser; with everywhere=yes, of all the member's browsers.",
      handler: (context) => signOut(context, tools),
    }),
    defineRoute({
      ...page,
      limits: undefined,
      credentials: "member",
      method: "GET",
      path: "/auth/me",
      summary: "The member who is signed in, with roles and groups.",
      handler: (context) => showMe(context, tools),
    }),
    ...(dependencies.sandbox === true
      ? [
          defineRoute({
            ...page,
            method: "POST",
            path: "/auth/persona",
            summary: "Signs in as any member, in the sandbox only: a form with member=<workspace>/<member>.",
            handler: (context) => bePersona(context, tools),
          }),
        ]
      : []),
  ];
}

async function choose(context: RouteContext, { dependencies, provider }: Tools): Promise<Response> {
  const personas = dependencies.sandbox === true ? (await listPersonas(dependencies)).personas : undefined;
  const returnTo = returnPath(context.url.searchParams.get("return_to"));
  return pageResponse(signInPage({ provider: provider?.name, personas, returnTo }));
}

async function begin(context: RouteContext, { provider, flows }: Tools): Promise<Response> {
  if (provider === undefined) {
    throw new HeadroomError("not_configured", "No identity provider is set up here.", {
      hint: "Operators: set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.",
      httpStatus: 503,
    });
  }
  const { url, flow } = await provider.begin();
  const returnTo = returnPath(context.url.searchParams.get("return_to"));
  return redirect(url, [await flows.remember({ ...flow, returnTo })]);
}

async function finish(context: RouteContext, tools: Tools): Promise<Response> {
  const { provider, flows, sessions, dependencies } = tools;
  const flow = await flows.recall(context.request);
  if (provider === undefined || flow === undefined) {
    return failed(
      context,
      tools,
      400,
      "flow_unknown",
      "This sign-in was not started in this browser, or took too long.",
    );
  }
  const outcome = await provider.finish(context.url.search, flow);
  switch (outcome.kind) {
    case "declined":
      return failed(context, tools, 403, "declined", "The identity provider did not sign you in.");
    case "invalid":
      return failed(
        context,
        tools,
        400,
        outcome.code,
        "The answer of the identity provider does not belong to this sign-in.",
      );
    default: {
      const member = await memberOf(dependencies, outcome.account);
      if (member === undefined) {
        return failed(
          context,
          tools,
          403,
          "not_a_member",
          "Your account is not linked to an active member of a workspace. Ask an admin of the workspace to link it.",
        );
      }
      return redirect(flow.returnTo, [await sessions.issue(member), flows.forget()]);
    }
  }
}

/** The person gets the reason as text, the log gets a code. */
function failed(
  context: RouteContext,
  { dependencies, flows }: Tools,
  status: number,
  code: string,
  explanation: string,
): Promise<Response> {
  dependencies.log({ level: "warn", event: "sign_in_refused", requestId: context.requestId, code: code.slice(0, 64) });
  return pageResponse(signInFailedPage("You are not signed in", explanation, context.requestId), {
    status,
    headers: { "set-cookie": flows.forget() },
  });
}

/** For queries on the server's own behalf; the purpose is stated. */
function ownSession(purpose: "sign_in" | "persona"): Session {
  return { role: "service_role", claims: { role: "service_role", purpose } };
}

const signedInSchema = z
  .object({ workspace_id: z.string(), member_id: z.string(), signed_in_at: z.number() })
  .transform((row): SignedIn => ({
    workspaceId: row.workspace_id,
    memberId: row.member_id,
    signedInAt: row.signed_in_at,
  }));

async function memberOf({ database }: HttpDependencies, account: OidcAccount): Promise<SignedIn | undefined> {
  try {
    const answer = await database.transaction(ownSession("sign_in"), (client) =>
      call(client, "public.sign_in_member", {
        p_issuer: account.issuer,
        p_subject: account.subject,
        p_email: account.email,
        p_email_verified: account.emailVerified,
      }),
    );
    return signedInSchema.parse(answer);
  } catch (error) {
    if (error instanceof HeadroomError && error.code === "not_allowed") return undefined;
    throw error;
  }
}

const personasSchema = z.object({
  at: z.number(),
  personas: z.array(
    z
      .object({
        workspace_id: z.string(),
        member_id: z.string(),
        name: z.string(),
        roles: z.array(z.string()),
        groups: z.array(z.string()),
      })
      .transform(({ workspace_id: workspaceId, member_id: memberId, ...rest }): Persona => ({
        workspaceId,
        memberId,
        ...rest,
      })),
  ),
});

async function listPersonas({ database }: HttpDependencies): Promise<z.infer<typeof personasSchema>> {
  const answer = await database.transaction(
    ownSession("persona"),
    (client) => call(client, "public.list_personas", {}),
    { readOnly: true },
  );
  return personasSchema.parse(answer);
}

async function bePersona(context: RouteContext, { dependencies, sessions }: Tools): Promise<Response> {
  refuseForeign(context, dependencies);
  const form = await readForm(context);
  const { at, personas } = await listPersonas(dependencies);
  const persona = personas.find(({ workspaceId, memberId }) => `${workspaceId}/${memberId}` === form["member"]);
  if (persona === undefined) {
    throw new HeadroomError("not_found", "There is no such active member.", { hint: "Pick one from /auth/sign-in." });
  }
  return redirect(returnPath(form["return_to"]), [
    await sessions.issue({ workspaceId: persona.workspaceId, memberId: persona.memberId, signedInAt: at }),
  ]);
}

async function signOut(context: RouteContext, { dependencies, sessions }: Tools): Promise<Response> {
  refuseForeign(context, dependencies);
  const form = await readForm(context);
  if (form["everywhere"] === "yes") {
    const session = await sessions.identify(context.request);
    if (session !== undefined) {
      await dependencies.database.transaction(session, (client) => call(client, "public.sign_out_everywhere", {}));
    }
  }
  return pageResponse(signedOutPage(), { headers: { "set-cookie": sessions.clear() } });
}

/** Another site must not sign its visitors in or out here. */
function refuseForeign(context: RouteContext, { publicUrl }: HttpDependencies): void {
  if (provenanceOf(context.request, publicUrl) === "foreign") {
    throw new HeadroomError("not_allowed", "This request came from another site. Nothing was changed.", {
      hint: "Use our own pages.",
    });
  }
}

const meSchema = z
  .object({
    workspace_id: z.string(),
    workspace_name: z.string(),
    member_id: z.string(),
    name: z.string(),
    roles: z.array(z.string()),
    groups: z.array(z.string()),
  })
  .transform(({ workspace_id: workspaceId, workspace_name: workspaceName, member_id: memberId, ...rest }) => ({
    workspaceId,
    workspaceName,
    memberId,
    ...rest,
  }));

async function showMe(context: RouteContext, { sessions }: Tools): Promise<Response> {
  const me = meSchema.parse(
    await context.transaction((client) => call(client, "public.who_am_i", {}), { readOnly: true }),
  );
  const renewed = await sessions.renew(context.request);
  const headers = renewed === undefined ? {} : { "set-cookie": renewed };
  const wantsPage = (context.request.headers.get("accept") ?? "").includes("text/html");
  return wantsPage ? pageResponse(mePage(me), { headers }) : Response.json(me, { headers });
}

function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
