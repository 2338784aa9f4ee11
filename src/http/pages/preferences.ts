/**
 * A member's notification preferences: about what, by which channel, and when. One form, which works without script, by keyboard and on
 * a phone.
 *
 * Owns: the words and the fields. Does not own: what may be chosen, which the database says and checks.
 */
import { html } from "hono/html";
import { chosenChannels } from "../../notify/notification.ts";
import type { CategoryPreferences, Preferences } from "../../notify/preferences.ts";
import type { Html, Page } from "./page.ts";

export interface PreferencesView {
  readonly saved?: boolean | undefined;
  /** Why the entries were not saved. */
  readonly refused?: string | undefined;
  /** The refused entries. */
  readonly entered?: Readonly<Record<string, string>> | undefined;
}

type ChosenChannel = (typeof chosenChannels)[number];

const choiceNames: Readonly<Record<string, string>> = { on: "At once", digest: "Daily digest", off: "Off" };

/** The field of a choice. */
export function choiceField(category: string, channel: string): string {
  return `choice.${category}.${channel}`;
}

export function preferencesPage(preferences: Preferences, view: PreferencesView = {}): Page {
  const { refused, saved } = view;
  return {
    title: `${refused === undefined ? "" : "Error: "}What you are told`,
    heading: "Notifications",
    body: html`<h1>What you are told, how and when</h1>
      <p class="quiet">For ${preferences.name}.</p>
      ${
        refused !== undefined &&
        html`<div class="note warn" role="alert">
          <p>${refused}</p>
          <p>What you entered stands below.</p>
        </div>`
      }
      ${saved === true && html`<div class="note good" role="status"><p>Saved.</p></div>`}
      <form method="post" action="/preferences">
        <h2>Of what</h2>
        ${unreachable(preferences)} ${preferences.categories.map((each) => categoryField(each, view))}
        ${clock(preferences, view)}
        <button type="submit">Save</button>
      </form>`,
    foot: html`<a href="/inbox">Inbox</a> · <a href="/auth/me">Who is signed in</a>`,
  };
}

/** The page says once which channels cannot deliver yet. They can still be chosen: the address may be known tomorrow. */
function unreachable({ reached }: Preferences): Html | false {
  const missing = chosenChannels.filter(({ channel }) => reached[channel] === false).map(({ label }) => label);
  return (
    missing.length > 0 &&
    html`<p class="hint">
      Nobody knows where to reach you by ${missing.join(" and ")} yet. An admin can add it to the directory.
    </p>`
  );
}

function categoryField(
  { category, title, meaning, critical, choices }: CategoryPreferences,
  view: PreferencesView,
): Html {
  return html`<fieldset>
    <legend>${title}</legend>
    <p class="hint">${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.</p>
    ${
      critical
        ? html`<p>Always sent immediately: it cannot wait.</p>`
        : html`<div class="columns">
            ${chosenChannels.map((each) =>
              choiceSelect(choiceField(category, each.channel), each, choices[each.channel] ?? "on", view),
            )}
          </div>`
    }
  </fieldset>`;
}

function choiceSelect(field: string, channel: ChosenChannel, kept: string, { entered }: PreferencesView): Html {
  const chosen = entered?.[field] ?? kept;
  const choices = Object.entries(choiceNames).filter(([choice]) => choice !== "digest" || channel.waits);
  return html`<div>
    <label for="${field}">${channel.label}</label>
    <select id="${field}" name="${field}">
      ${choices.map(
        ([choice, words]) =>
          html`<option value="${choice}" ${choice === chosen && html` selected`}>
            ${!channel.waits && choice === "on" ? "On" : words}
          </option>`,
      )}
    </select>
  </div>`;
}

function clock(preferences: Preferences, { entered }: PreferencesView): Html {
  const { timeZone, quietFrom, quietUntil, digestAt } = preferences;
  const valueOf = (name: string, kept: string | null): string => entered?.[name] ?? kept ?? "";
  const time = (name: string, label: string, kept: string | null, hint?: string): Html =>
    html`<div>
      <label for="${name}">${label}</label>
      <input
        id="${name}"
        name="${name}"
        type="time"
        value="${valueOf(name, kept)}"
        ${hint !== undefined && html` aria-describedby="${hint}"`}
      />
    </div>`;
  return html`<h2>When</h2>
    <div class="field">
      <label for="time_zone">Time zone</label>
      <input
        id="time_zone"
        name="time_zone"
        value="${valueOf("time_zone", timeZone)}"
        list="zones"
        maxlength="64"
        autocomplete="off"
        spellcheck="false"
        aria-describedby="zone-hint"
      />
      <datalist id="zones">
        ${Intl.supportedValuesOf("timeZone").map((zone) => html`<option value="${zone}"></option>`)}
      </datalist>
      <p class="hint" id="zone-hint">Such as Europe/Berlin. All times here are by this clock.</p>
    </div>
    <fieldset>
      <legend>Quiet hours</legend>
      <p class="hint" id="quiet-hint">
        What comes then is kept for you until they are over, unless it is critical. What expires before they are over is
        not sent. Leave both empty for none. The inbox is always up to date.
      </p>
      <div class="columns">
        ${time("quiet_from", "From", quietFrom, "quiet-hint")} ${time("quiet_until", "Until", quietUntil, "quiet-hint")}
      </div>
    </fieldset>
    <fieldset>
      <legend>Daily digest</legend>
      <p class="hint" id="digest-hint">What you chose it for comes together, once a day.</p>
      <div class="columns">${time("digest_at", "Sent at", digestAt, "digest-hint")}</div>
    </fieldset>`;
}
