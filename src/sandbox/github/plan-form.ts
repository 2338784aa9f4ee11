/**
 * The part of a form in which people choose how a run goes, and the fields that a browser sends.
 */
import { html } from "hono/html";
import { z } from "zod";
import type { Html } from "../pages/layout.ts";
import { affected, losses, outcomes, speeds, type RunPlan } from "./run-plan.ts";

/** A box that is not ticked is not sent. */
export const planForm = z.object({
  run: z.coerce.number().int().optional(),
  affects: z.enum(affected).default("both"),
  speed: z.enum(speeds),
  outcome: z.enum(outcomes),
  step: z.coerce.number().int().min(1).max(9),
  loses: z.enum(losses),
  slowToStop: z
    .literal("on")
    .optional()
    .transform((ticked) => ticked === "on"),
});

const affectedWords: Readonly<Record<RunPlan["affects"], string>> = {
  both: "all",
  provision: "provisioning",
  cleanup: "cleanups",
};
const speedWords: Readonly<Record<RunPlan["speed"], string>> = {
  instant: "instant, no steps",
  quick: "quick (10 s)",
  normal: "normal (40 s)",
  slow: "slow (4 min)",
};
const outcomeWords: Readonly<Record<RunPlan["outcome"], string>> = {
  succeeds: "it succeeds",
  fails: "a step fails",
  hangs: "a step hangs",
  crashes: "its machine dies",
};
const lossWords: Readonly<Record<RunPlan["loses"], string>> = {
  nothing: "all arrive",
  everything: "all are lost",
  results: "results are lost",
  claims: "claims are lost",
};
const stepWords: Readonly<Record<string, string>> = { 1: "the first", 2: "the second", 3: "the third" };

/** `ofMany`: for future runs, not for a single one. */
export function planFields(plan: RunPlan, ofMany: boolean): Html {
  return html`<div class="row">
      ${ofMany && choice("Which runs", "affects", affectedWords, plan.affects)}
      ${choice("Outcome", "outcome", outcomeWords, plan.outcome)}
      ${choice("At step", "step", stepWords, String(plan.step))} ${choice("Speed", "speed", speedWords, plan.speed)}
      ${choice("Its callbacks", "loses", lossWords, plan.loses)}
    </div>
    <p class="field">
      <label class="option">
        <input type="checkbox" name="slowToStop" ${plan.slowToStop && "checked"} />
        <span>It is slow to stop when it is cancelled</span>
      </label>
    </p>`;
}

function choice(label: string, name: string, words: Readonly<Record<string, string>>, chosen: string): Html {
  return html`<div>
    <label for="plan-${name}">${label}</label>
    <select id="plan-${name}" name="${name}">
      ${Object.entries(words).map(
        ([value, text]) => html`<option value="${value}" ${value === chosen && "selected"}>${text}</option>`,
      )}
    </select>
  </div>`;
}
