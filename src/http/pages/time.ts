/** Points in time as people read them. The server does not know where the reader is, so every time names its zone. */
import { html } from "hono/html";
import type { Html } from "./page.ts";

const dayFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const clockFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

/** `Sunday 22 November 2026, 10:30 UTC`. */
export function timeInWords(time: Date): string {
  return `${dayFormat.format(time)}, ${clockFormat.format(time)} UTC`;
}

/** A calendar date, `2026-11-22`, without a time, so without a zone. */
export function dateInWords(date: string): string {
  const time = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(time.getTime()) ? date : dayFormat.format(time);
}

export function timeElement(time: Date): Html {
  return html`<time datetime="${time.toISOString()}">${timeInWords(time)}</time>`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** About how much time is left; the page shows the exact end next to it: `7 days`, `3 hours`, `less than a minute`. */
export function remainingInWords(untilTime: Date, now: Date): string {
  const left = untilTime.getTime() - now.getTime();
  const [size, name] =
    left >= 2 * dayMs ? [dayMs, "day"] : left >= 2 * hourMs ? [hourMs, "hour"] : ([minuteMs, "minute"] as const);
  if (left < minuteMs) return "less than a minute";
  const count = Math.round(left / size);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
