/**
 * The sign-in page: pick who to be. It works without script, and shows what each person does.
 */
import { html } from "hono/html";
import type { SampleData } from "../sample-data.ts";
import { page } from "../pages/layout.ts";

export function pickerPage(
  sampleData: SampleData,
  asked: Readonly<Record<string, string | undefined>>,
): Promise<Response> {
  const hidden = Object.entries(asked).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return page({
    title: "Sign in",
    mainClass: "narrow",
    body: html`<h1>Who are you today?</h1>
      <p class="quiet">This identity provider belongs to the sandbox. There is no password: pick somebody.</p>
      <form method="post" action="/oidc/authorize">
        ${hidden}
        <ul class="choices">
          ${sampleData.people.map(
            (person) =>
              html`<li>
                <button name="person" value="${person.memberId}">${person.name}<small>${person.title}</small></button>
              </li>`,
          )}
          <li>
            <button name="person" value="">Nobody<small>Go back without signing in</small></button>
          </li>
        </ul>
      </form>`,
  });
}

export function refusedPage(what: string, hint: string): Promise<Response> {
  return page({
    title: "Sign-in refused",
    mainClass: "narrow",
    status: 400,
    body: html`<h1>${what}</h1>
      <p>You are not signed in, and nothing was sent.</p>
      <p class="quiet">${hint}</p>`,
  });
}
