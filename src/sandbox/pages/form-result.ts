/**
 * The result of a page's form: the next page, or a page that explains what is wrong.
 */
import { z } from "zod";
import { html } from "hono/html";
import { HeadroomError } from "../../db/errors.ts";
import { page } from "./layout.ts";

export async function afterForm(work: () => Promise<Response> | Response): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HeadroomError)
      return refused(error.httpStatus, error.message, error.hint ?? error.detail ?? "");
    if (error instanceof z.ZodError) {
      const where = error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`).join("; ");
      return refused(400, "The form is not complete.", where);
    }
    throw error;
  }
}

function refused(status: number, what: string, hint: string): Promise<Response> {
  return page({
    title: "That did not work",
    mainClass: "narrow",
    status,
    body: html`<h1>That did not work</h1>
      <p class="note bad" role="alert">${what}</p>
      ${hint !== "" && html`<p>${hint}</p>`}
      <p><a href="/">Back to the overview</a></p>`,
  });
}
