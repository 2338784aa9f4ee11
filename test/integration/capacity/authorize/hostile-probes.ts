/**
 * Turns each line of hostile-table.ts into one call, with the things that it is about filled in.
 *
 * Does not own: what is tried (hostile-table.ts), nor calling and comparing.
 */
import { functions, type Fill, type Try } from "./hostile-table.ts";
import { views } from "./hostile-views.ts";
import type { Things } from "./hostile-workspaces.ts";

/** Calls in which a signature or a link identifies the caller: made by anonymous users only. */
const byAnybody = [
  "handle_slack_webhook",
  "handle_linear_webhook",
  "handle_github_webhook",
  "handle_stripe_webhook",
  "handle_provisioning_callback",
  "describe_confirmation",
  "decide_by_token",
  "begin_draft",
  "describe_draft",
  "save_draft",
  "send_draft_link",
  "submit_draft",
  "begin_checkout",
  "get_checkout",
];

export interface Probe {
  /** The function or view, and the value that is filled in. */
  readonly title: string;
  readonly of: string;
  readonly kind: "function" | "view";
  readonly argument: string | null;
  readonly what: Try | null;
  readonly anybody: boolean;
}

function titled(of: string, kind: Probe["kind"], argument: string, tries: readonly Try[]): Probe[] {
  return tries.map((what, index) => ({
    title: `${of} with ${argument} = ${typeof what === "string" ? what : `try ${index + 1}`}`,
    of,
    kind,
    argument,
    what,
    anybody: byAnybody.includes(of),
  }));
}

const bare = { argument: null, what: null, anybody: false };

/** Every line of the table, beginning with the calls that name nothing of others. */
export const probes: readonly Probe[] = [
  ...Object.keys(functions).map((of): Probe => ({ ...bare, title: of, of, kind: "function" })),
  ...Object.keys(views).map((of): Probe => ({ ...bare, title: of, of, kind: "view" })),
  ...Object.entries(functions).flatMap(([of, { tries }]) =>
    Object.entries(tries).flatMap(([argument, list]) => titled(of, "function", argument, list)),
  ),
  ...Object.entries(views).flatMap(([of, columns]) =>
    Object.entries(columns).flatMap(([column, list]) => titled(of, "view", column, list)),
  ),
];

export interface Filled {
  readonly values: ReadonlyMap<string, unknown>;
  /** The things that were named, unchanged. */
  readonly named: ReadonlyMap<keyof Things, string>;
}

const valueOf = (what: Try, fill: Fill): unknown => (typeof what === "string" ? fill(what) : what(fill));

/** A probe's arguments or conditions: the tested argument is about these things, all others about the caller's own. */
export function fillProbe(probe: Probe, things: Things, own: Things): Filled {
  const named = new Map<keyof Things, string>();
  const fillFrom =
    (source: Things, remember: boolean): Fill =>
    (template) =>
      template.replaceAll(/\{([a-zA-Z]+)\}/g, (_, key: keyof Things) => {
        if (remember) named.set(key, source[key]);
        return source[key];
      });
  const base = probe.kind === "function" ? (functions[probe.of]?.call ?? {}) : {};
  const values = new Map(Object.entries(base).map(([name, what]) => [name, valueOf(what, fillFrom(own, false))]));
  if (probe.argument !== null && probe.what !== null) {
    values.set(probe.argument, valueOf(probe.what, fillFrom(things, true)));
  }
  return { values, named };
}
