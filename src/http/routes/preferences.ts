/**
 * The page on which a member chooses what they are notified about, by which channel and when.
 *
 * Owns: the path from the form to the database and back. Does not own: the words (pages/preferences.ts), nor what may be chosen.
 */
import { HeadroomError } from "../../db/errors.ts";
import { getPreferences, setPreferences, type PreferenceChanges, type Preferences } from "../../notify/index.ts";
import { toError } from "../../db/refusal.ts";
import { choiceField, preferencesPage } from "../pages/preferences.ts";
import { pageResponse } from "../pages/page.ts";
import { readForm } from "../request/form.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";

const path = "/preferences";

export function preferenceRoutes(): RouteEntry[] {
  const page = { path, credentials: "member", errors: "page" } as const;
  return [
    defineRoute({
      ...page,
      method: "GET",
      summary: "What the member who is signed in is told, by which channel and when, as a page.",
      handler: async (context) =>
        pageResponse(
          preferencesPage(await preferencesOf(context), { saved: context.url.searchParams.get("saved") === "1" }),
        ),
    }),
    defineRoute({
      ...page,
      method: "POST",
      limits: { bodyBytes: 16_384 },
      skipsDatabase: true,
      summary: "Changes it: the fields of the page's form.",
      handler: save,
    }),
  ];
}

async function preferencesOf(context: RouteContext): Promise<Preferences> {
  const found = await context.transaction((client) => getPreferences(client), { readOnly: true });
  if (found.outcome === "refused") throw toError(found);
  return found.preferences;
}

async function save(context: RouteContext): Promise<Response> {
  const entered = await readForm(context);
  const now = await preferencesOf(context);
  try {
    await context.transaction(async (client) => {
      const set = await setPreferences(client, changesOf(entered, now));
      // Thrown, so that changes made before the refusal are rolled back.
      if (set.outcome === "refused") throw toError(set);
    });
  } catch (error) {
    if (!(error instanceof HeadroomError) || error.code !== "invalid_input") throw error;
    const refused = [error.message, error.hint].filter(Boolean).join(" ");
    return pageResponse(preferencesPage(now, { refused, entered }), { status: error.httpStatus });
  }
  // A redirect to the page, so that reloading it does not send the form again.
  return new Response(null, { status: 303, headers: { location: `${path}?saved=1` } });
}

/** The fields of the form. A missing field changes nothing; an empty one clears the setting. */
function changesOf(entered: Readonly<Record<string, string>>, { categories }: Preferences): PreferenceChanges {
  const valueOf = (name: string): string | null | undefined =>
    entered[name] === undefined ? undefined : entered[name].trim() === "" ? null : entered[name];
  const choices = categories.map(({ category, choices: channels }) => [
    category,
    Object.fromEntries(
      Object.keys(channels).flatMap((channel) => {
        const choice = entered[choiceField(category, channel)];
        return choice === undefined ? [] : [[channel, choice]];
      }),
    ),
  ]);
  return {
    timeZone: valueOf("time_zone"),
    quietFrom: valueOf("quiet_from"),
    quietUntil: valueOf("quiet_until"),
    digestAt: valueOf("digest_at"),
    choices: Object.fromEntries(choices),
  };
}
