/**
 * The pages around signing in: choosing how to sign in, who is signed in, and what went wrong.
 *
 * Owns: the words. Does not own: sessions, nor the routes.
 */
import { html } from "hono/html";
import type { Page } from "./page.ts";

export interface Persona {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

export interface SignInChoices {
  /** The provider's name, for its button; undefined if no provider is configured. */
  readonly provider: string | undefined;
  /** Undefined outside of the sandbox. */
  readonly personas: readonly Persona[] | undefined;
  readonly returnTo: string;
}

export function signInPage({ provider, personas, returnTo }: SignInChoices): Page {
  const start = `/auth/oidc/start?return_to=${encodeURIComponent(returnTo)}`;
  return {
    title: "Sign in",
    body: html`<h1>Sign in</h1>
      ${provider !== undefined && html`<p><a class="button" href="${start}">Sign in with ${provider}</a></p>`}
      ${
        provider === undefined &&
        personas === undefined &&
        html`<p>No identity provider is set up here.</p>
          <p class="quiet">
            Operators: start the server with <code>OIDC_ISSUER</code>, <code>OIDC_CLIENT_ID</code> and
            <code>OIDC_CLIENT_SECRET</code>.
          </p>`
      }
      ${personas !== undefined && personaPicker(personas, returnTo)}`,
  };
}

function personaPicker(personas: readonly Persona[], returnTo: string) {
  if (personas.length === 0)
    return html`<p>There is nobody in the directory yet. Add somebody with <code>headroom members put</code>.</p>`;
  return html`<h2>Choose who to be</h2>
    <p class="quiet">This is a sandbox: pick anybody in the directory. There is no password.</p>
    <form method="post" action="/auth/persona">
      <input type="hidden" name="return_to" value="${returnTo}" />
      <ul class="choices">
        ${personas.map(
          (persona) =>
            html`<li>
              <button type="submit" class="plain" name="member" value="${persona.workspaceId}/${persona.memberId}">
                ${persona.name}
                <small
                  >${[...persona.roles, ...persona.groups].join(", ") || "no roles"} · ${persona.workspaceId}</small
                >
              </button>
            </li>`,
        )}
      </ul>
    </form>`;
}

export interface Me {
  readonly name: string;
  readonly workspaceName: string;
  readonly memberId: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

export function mePage(me: Me): Page {
  return {
    title: `Signed in as ${me.name}`,
    heading: me.workspaceName,
    body: html`<h1>Signed in as ${me.name}</h1>
      <dl>
        <dt>Member</dt>
        <dd>${me.memberId}</dd>
        <dt>Roles</dt>
        <dd>${me.roles.join(", ") || "none"}</dd>
        <dt>Groups</dt>
        <dd>${me.groups.join(", ") || "none"}</dd>
      </dl>
      <p><a href="/inbox">Inbox</a> · <a href="/preferences">What you are told, how and when</a></p>
      <form method="post" action="/auth/sign-out">
        <button type="submit" class="plain">Sign out</button>
      </form>
      <details>
        <summary>Sign out everywhere</summary>
        <p class="hint">Ends your sessions in all browsers. API keys stay valid.</p>
        <form method="post" action="/auth/sign-out">
          <input type="hidden" name="everywhere" value="yes" />
          <button type="submit" class="plain">Sign out of all browsers</button>
        </form>
      </details>`,
  };
}

export function signedOutPage(): Page {
  return {
    title: "You are signed out",
    body: html`<h1>You are signed out</h1>
      <p><a class="button" href="/auth/sign-in">Sign in again</a></p>`,
  };
}

export function signInFailedPage(title: string, explanation: string, requestId: string): Page {
  return {
    title,
    body: html`<h1>${title}</h1>
      <p>${explanation}</p>
      <p><a class="button" href="/auth/sign-in">Try again</a></p>
      <p class="quiet">If you ask for help, give this number: <code>${requestId}</code></p>`,
  };
}
