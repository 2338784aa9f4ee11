/** One field of a form: its label, its hint, and what is wrong with it, linked for screen readers. */
import { html } from "hono/html";
import type { Fragment, Html } from "../page.ts";

export interface FieldState {
  readonly value: string;
  readonly problem: string | undefined;
  /** The first invalid field gets the focus. */
  readonly focus: boolean;
}

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly type?: "text" | "date" | "email" | undefined;
  readonly numeric?: boolean | undefined;
  readonly autocomplete?: string | undefined;
  readonly most?: number | undefined;
  readonly suggestions?: readonly (string | number)[] | undefined;
}

export function inputField(options: FieldOptions, state: FieldState): Html {
  const { name, suggestions = [] } = options;
  const list = suggestions.length > 0 ? `${name}-list` : undefined;
  return field(
    options,
    state,
    html`<input
        id="${name}"
        name="${name}"
        type="${options.type ?? "text"}"
        value="${state.value}"
        ${attributes(options, state)}${
          options.numeric === true && html` inputmode="numeric"`
        }${options.autocomplete !== undefined && html` autocomplete="${options.autocomplete}"`}${
          options.most !== undefined && html` maxlength="${options.most}"`
        }${list !== undefined && html` list="${list}"`}
      />${
        list !== undefined &&
        html`<datalist id="${list}">${suggestions.map((each) => html`<option value="${each}"></option>`)}</datalist>`
      }`,
  );
}

export function selectField(options: FieldOptions, state: FieldState, choices: readonly string[]): Html {
  const { name } = options;
  // A choice that no longer exists must not silently become another one.
  const chosen = choices.includes(state.value) ? state.value : undefined;
  return field(
    options,
    state,
    html`<select id="${name}" name="${name}" ${attributes(options, state)}>
      ${chosen === undefined && html`<option value="" selected>Please choose</option>`}
      ${choices.map(
        (choice) => html`<option value="${choice}" ${choice === chosen && html` selected`}>${choice}</option>`,
      )}
    </select>`,
  );
}

function attributes({ name, hint, optional }: FieldOptions, { problem, focus }: FieldState): Html {
  const described = [problem !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
  return html`${described.length > 0 && html` aria-describedby="${described.join(" ")}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }${optional !== true && html` aria-required="true"`}${focus && html` autofocus`}`;
}

function field({ name, label, hint, optional }: FieldOptions, { problem }: FieldState, control: Fragment): Html {
  return html`<div class="field">
    <label for="${name}">${label}${optional === true && html` <span class="quiet">(optional)</span>`}</label>
    ${problem !== undefined && html`<p class="error" id="${name}-error">${problem}</p>`} ${control}
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  </div>`;
}
