/** A refusal or a failure as a page, for people whose browser asked. */
import { html } from "hono/html";
import type { Problem } from "../answer/problem.ts";
import type { Page } from "./page.ts";

export function problemPage(problem: Problem, returnTo?: string): Page {
  const signIn = returnTo === undefined ? "/auth/sign-in" : `/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`;
  return {
    title: problem.title,
    body: html`<h1>${problem.title}</h1>
      ${problem.hint !== undefined && html`<p>${problem.hint}</p>`}
      ${problem.code === "not_signed_in" && html`<p><a class="button" href="${signIn}">Sign in</a></p>`}
      <p class="quiet">If you ask for help, give this number: <code>${problem.request_id}</code></p>`,
  };
}
