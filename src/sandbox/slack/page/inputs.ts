/**
 * The inputs of a modal as HTML: labels, hints, previous values, and errors.
 */
import { html } from "hono/html";
import type { Fragment } from "../../pages/layout.ts";
import type { SampleData } from "../../sample-data.ts";
import type { Block, InputElement, Option } from "../block-kit.ts";
import type { OpenView } from "../state.ts";
import { plainText } from "./mrkdwn.ts";

type InputBlock = Extract<Block, { type: "input" }>;

/** How a field is named in the form: by its block. */
export const fieldPrefix = "b:";

export function inputHtml(block: InputBlock, open: OpenView, sampleData: SampleData): Fragment {
  const id = block.block_id ?? "";
  const error = open.errors[id];
  const given = open.values[id] ?? open.values[block.element.action_id ?? ""];
  const values = given === undefined ? initialOf(block.element) : typeof given === "string" ? [given] : given;
  const field: Field = {
    name: `${fieldPrefix}${id}`,
    id: `field-${id}`,
    values,
    required: block.optional !== true,
    described: html`${error !== undefined && html`aria-invalid="true"`}
    ${(error !== undefined || block.hint !== undefined) && html`aria-describedby="about-${id}"`}`,
  };
  const label = html`${plainText(block.label.text)}
  ${block.optional === true && html`<span class="quiet">(optional)</span>`}`;
  const about = html`<div id="about-${id}">
    ${error !== undefined && html`<p class="error">${error}</p>`}
    ${block.hint !== undefined && html`<p class="hint">${plainText(block.hint.text)}</p>`}
  </div>`;
  if (block.element.type === "radio_buttons" || block.element.type === "checkboxes") {
    return html`<fieldset class="field">
      <legend>${label}</legend>
      ${block.element.options.map((option) => choiceHtml(block.element.type, option, field))} ${about}
    </fieldset>`;
  }
  return html`<div class="field">
    <label for="${field.id}">${label}</label>
    ${controlHtml(block.element, field, sampleData)} ${about}
  </div>`;
}

interface Field {
  readonly name: string;
  readonly id: string;
  readonly values: readonly string[];
  readonly required: boolean;
  readonly described: Fragment;
}

function controlHtml(element: InputElement, field: Field, sampleData: SampleData): Fragment {
  const shared = html`id="${field.id}" name="${field.name}" ${field.described}`;
  const [first = ""] = field.values;
  const placeholder =
    element.type === "radio_buttons" || element.type === "checkboxes" ? "" : (element.placeholder?.text ?? "");
  switch (element.type) {
    case "static_select":
      return html`<select ${shared}>
        ${emptyOption(placeholder, field)} ${element.options.map((option) => optionHtml(option, field))}
      </select>`;
    case "multi_static_select":
      return html`<select ${shared} multiple>
        ${element.options.map((option) => optionHtml(option, field))}
      </select>`;
    case "users_select":
      return html`<select ${shared}>
        ${emptyOption(placeholder, field)}
        ${sampleData.people.map(
          ({ slackUserId, name }) =>
            html`<option value="${slackUserId}" ${field.values.includes(slackUserId) && html`selected`}>
              ${name}
            </option>`,
        )}
      </select>`;
    case "datepicker":
      return html`<input type="date" ${shared} value="${first}" />`;
    case "number_input":
      // Text with a keypad: the server must see what was typed, and a browser's own number field drops invalid input.
      return html`<input
        ${shared}
        inputmode="${element.is_decimal_allowed ? "decimal" : "numeric"}"
        value="${first}"
        placeholder="${placeholder}"
      />`;
    case "plain_text_input":
      return element.multiline === true
        ? html`<textarea ${shared} placeholder="${placeholder}">${first}</textarea>`
        : html`<input ${shared} value="${first}" placeholder="${placeholder}" />`;
    default:
      return html`<input ${shared} value="${first}" placeholder="${placeholder}" />`;
  }
}

function emptyOption(placeholder: string, field: Field): Fragment {
  if (field.required && field.values.length > 0) return null;
  return html`<option value="">${placeholder === "" ? "Choose" : placeholder}</option>`;
}

function optionHtml(option: Option, field: Field): Fragment {
  return html`<option value="${option.value}" ${field.values.includes(option.value) && html`selected`}>
    ${plainText(option.text.text)}
  </option>`;
}

function choiceHtml(type: string, option: Option, field: Field): Fragment {
  return html`<label class="option">
    <input
      type="${type === "checkboxes" ? "checkbox" : "radio"}"
      name="${field.name}"
      value="${option.value}"
      ${field.values.includes(option.value) && html`checked`}
      ${field.described}
    />
    <span>
      ${plainText(option.text.text)}
      ${option.description !== undefined && html`<small>${plainText(option.description.text)}</small>`}
    </span>
  </label>`;
}

function initialOf(element: InputElement): readonly string[] {
  switch (element.type) {
    case "static_select":
    case "radio_buttons":
      return element.initial_option === undefined ? [] : [element.initial_option.value];
    case "multi_static_select":
    case "checkboxes":
      return (element.initial_options ?? []).map(({ value }) => value);
    case "datepicker":
      return element.initial_date === undefined ? [] : [element.initial_date];
    case "users_select":
      return element.initial_user === undefined ? [] : [element.initial_user];
    default:
      return element.initial_value === undefined ? [] : [element.initial_value];
  }
}
