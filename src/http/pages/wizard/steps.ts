/**
 * The first three steps of the wizard: what, when, who. Each is one form, with its error next to each field.
 *
 * Owns: the words and the fields. Does not own: checking them, which the database does.
 */
import { html } from "hono/html";
import { termsInWords } from "../confirm/payment.ts";
import type { Html, Page } from "../page.ts";
import { stepTitles, type Draft, type StepNumber } from "./draft.ts";
import { inputField, selectField, type FieldState } from "./field.ts";

export interface StepView {
  readonly step: 1 | 2 | 3;
  /** Where all steps are, without the step itself. */
  readonly base: string;
  readonly locale: string;
  /** Entries that were not saved, because another window changed the order meanwhile. */
  readonly stale?: Readonly<Record<string, string>> | undefined;
}

export function stepPage(draft: Draft, view: StepView): Page {
  const { step, base } = view;
  const wrong = Object.keys(problemsOf(draft, view));
  return {
    title: `${wrong.length > 0 ? "Error: " : ""}${stepTitles[step]} – step ${step} of 4`,
    heading: draft.workspace,
    body: html`${stepsNav(draft, step, base)}
      <h1>${stepTitles[step]}</h1>
      ${wrong.length > 0 && problemNote(wrong.length)} ${view.stale !== undefined && staleNote()}
      ${step === 3 && priceNote(draft, view.locale)}
      <form method="post" action="${base}/${step}" novalidate>
        <input type="hidden" name="revision" value="${draft.revision}" />
        ${fieldsOf(draft, view)}
        <button type="submit">${step === 3 ? "Send me the link" : "Continue"}</button>
      </form>
      ${step > 1 && html`<p class="back"><a href="${base}/${step - 1}">Back to step ${step - 1}</a></p>`}`,
    foot: html`Nothing is ordered before the last step. What you enter is forgotten after a day.`,
  };
}

function problemNote(count: number): Html {
  return html`<div class="note warn" role="alert">
    <p>${count === 1 ? "One field needs" : "Some fields need"} another look. Nothing was lost.</p>
  </div>`;
}

function staleNote(): Html {
  return html`<div class="note warn" role="alert">
    <p>
      This order was changed in another window meanwhile. What you entered here stands below and is not kept yet: check
      it and continue, or open the order again.
    </p>
  </div>`;
}

function priceNote(draft: Draft, locale: string): Html | false {
  const { offer } = draft;
  return offer === null || offer === undefined
    ? false
    : html`<p>The price is <strong>${termsInWords(offer, locale)}</strong>. You pay at the end, not now.</p>`;
}

/** The current step, and links back to the earlier ones. */
export function stepsNav(draft: Draft, current: StepNumber, base: string): Html {
  return html`<nav class="wizard" aria-label="Steps">
    <ol>
      ${([1, 2, 3, 4] as const).map((step) =>
        step === current
          ? html`<li aria-current="step">${step}<span>. ${stepTitles[step]}</span></li>`
          : html`<li>
              ${
                step < current || step <= draft.step
                  ? html`<a href="${base}/${step}">${step}<span>. ${stepTitles[step]}</span></a>`
                  : html`${step}<span>. ${stepTitles[step]}</span>`
              }
            </li>`,
      )}
    </ol>
  </nav>`;
}

function fieldsOf(draft: Draft, view: StepView): Html {
  switch (view.step) {
    case 1:
      return capacityFields(draft, view);
    case 2:
      return timeFields(draft, view);
    default:
      return personFields(draft, view);
  }
}

/** The last errors, unless something else was entered since. */
function problemsOf({ entered }: Draft, { step, stale }: StepView): Readonly<Record<string, string>> {
  return stale === undefined && entered?.step === step ? entered.problems : {};
}

function stateOf(draft: Draft, view: StepView, name: keyof Draft["terms"]): FieldState {
  const problems = problemsOf(draft, view);
  const entered = draft.entered?.step === view.step ? draft.entered.values : undefined;
  return {
    value: (view.stale ?? entered)?.[name] ?? String(draft.terms[name] ?? ""),
    problem: problems[name],
    focus: Object.keys(problems)[0] === name,
  };
}

function capacityFields(draft: Draft, view: StepView): Html {
  const { sizes, regions, any_region: anyRegion } = draft.choices;
  const region = { name: "region", label: "Region" };
  const regionState = stateOf(draft, view, "region");
  return html`${selectField({ name: "size", label: "Size" }, stateOf(draft, view, "size"), sizes)}
  ${
    anyRegion
      ? inputField({ ...region, hint: "Such as us-east-1.", most: 32, suggestions: regions }, regionState)
      : selectField(region, regionState, regions)
  }
  ${inputField(
    { name: "quantity", label: "How many?", numeric: true, most: 6, hint: "A whole number from 1 to 10000." },
    stateOf(draft, view, "quantity"),
  )}`;
}

function timeFields(draft: Draft, view: StepView): Html {
  const { durations, any_duration: anyDuration } = draft.choices;
  const known = durations.join(", ");
  return html`${inputField(
    { name: "needed_by", label: "Needed by", type: "date", optional: true, hint: "Leave it empty if any day will do." },
    stateOf(draft, view, "needed_by"),
  )}
  ${inputField(
    {
      name: "duration_days",
      label: "For how many days?",
      numeric: true,
      most: 6,
      optional: anyDuration,
      hint: anyDuration
        ? `Leave it empty if there is no fixed end.${known === "" ? "" : ` There are separate prices for ${known} days.`}`
        : `Prices are for ${known} days.`,
      suggestions: durations,
    },
    stateOf(draft, view, "duration_days"),
  )}`;
}

function personFields(draft: Draft, view: StepView): Html {
  return html`${inputField(
    { name: "name", label: "Your name", autocomplete: "name", most: 200 },
    stateOf(draft, view, "name"),
  )}
  ${inputField(
    { name: "organisation", label: "Organisation", autocomplete: "organization", most: 200, optional: true },
    stateOf(draft, view, "organisation"),
  )}
  ${inputField(
    {
      name: "email",
      label: "E-mail address",
      type: "email",
      autocomplete: "email",
      most: 254,
      hint: "We send one mail to it, with the link to the last step.",
    },
    stateOf(draft, view, "email"),
  )}`;
}
