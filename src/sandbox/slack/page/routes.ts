/**
 * The Slack page's forms: each does what a person would do, and returns to the page.
 */
import { Hono } from "hono";
import { z } from "zod";
import type { SandboxEnv } from "../../core/exchange.ts";
import { readForm, type Form } from "../../core/form.ts";
import type { World } from "../../core/world.ts";
import { afterForm } from "../../pages/form-result.ts";
import { seeOther } from "../../pages/layout.ts";
import type { Live } from "../../pages/live.ts";
import type { SlackUserActions } from "../user-actions.ts";
import type { FilledIn } from "../inputs.ts";
import type { SlackState } from "../state.ts";
import { fieldPrefix } from "./inputs.ts";
import { slackPage, visitOf } from "./view.ts";

const whereSchema = z.looseObject({ as: z.string(), channel: z.string() });
const clickSchema = whereSchema.extend({
  ts: z.string(),
  block: z.string(),
  action: z.string(),
  chosen: z.string().optional(),
});
const writeSchema = whereSchema.extend({ text: z.string().max(3000) });
const viewSchema = whereSchema.extend({ view: z.string() });
const pressSchema = viewSchema.extend({
  press: z
    .string()
    .regex(/^\["[^"]*","[^"]*"\]$/)
    .transform((text) => z.tuple([z.string(), z.string()]).parse(JSON.parse(text))),
});

/** How long a form waits for its effect, so that the next page shows it, also without script. */
const lingerMs = 1_200;

export function slackPages(
  world: World,
  state: SlackState,
  userActions: SlackUserActions,
  live: Live,
): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/slack", (context) => {
    const visit = visitOf(world, state, context.req.query());
    return visit === undefined
      ? new Response("There are no people in the sample data.", { status: 404 })
      : slackPage(world, state, visit);
  });
  const act = <Where extends z.infer<typeof whereSchema>>(
    path: string,
    schema: z.ZodType<Where>,
    effect: (given: Where, form: Form) => Promise<unknown>,
  ): void => {
    routes.post(path, async (context) =>
      afterForm(async () => {
        const form = await readForm(context);
        const given = schema.parse(form);
        const before = seenBy(state, given);
        await effect(given, form);
        await linger(live, () => seenBy(state, given) !== before);
        return seeOther(`/slack?${new URLSearchParams({ channel: given.channel, as: given.as }).toString()}`);
      }),
    );
  };
  act("/slack/act/click", clickSchema, ({ as, channel, ts, block, action, chosen }) =>
    userActions.click({ user: as, actionId: action, blockId: block, channel, ts, chosen }),
  );
  act("/slack/act/press", pressSchema, ({ as, view, press: [blockId, actionId] }) =>
    userActions.click({ user: as, viewId: view, blockId, actionId }),
  );
  act("/slack/act/write", writeSchema, ({ as, channel, text }) => write(userActions, as, channel, text));
  act("/slack/act/submit", viewSchema, ({ as, view }, form) =>
    userActions.submitView({ user: as, viewId: view, values: filledIn(form) }),
  );
  act("/slack/act/close", viewSchema, ({ as, view }) => userActions.closeView({ user: as, viewId: view }));
  return routes;
}

/** A digest of what a person sees: if it differs, there is something new to see. */
function seenBy(state: SlackState, { as, channel }: z.infer<typeof whereSchema>): string {
  const messages = state.channels.get(channel)?.messages ?? [];
  const edits = messages.reduce((latest, { editedTs = "" }) => (editedTs > latest ? editedTs : latest), "");
  const notes = state.ephemerals.filter(({ user }) => user === as).at(-1)?.ts;
  const modals = state.views.get(as)?.map(({ id, hash, errors }) => `${id}${hash}${JSON.stringify(errors)}`);
  return JSON.stringify([messages.at(-1)?.ts, edits, notes, modals ?? []]);
}

async function linger(live: Live, isThere: () => boolean): Promise<void> {
  const end = performance.now() + lingerMs;
  while (!isThere() && performance.now() < end) await live.next(end - performance.now());
}

function filledIn(form: Form): FilledIn {
  return Object.fromEntries(
    Object.entries(form)
      .filter(([name]) => name.startsWith(fieldPrefix))
      .map(([name, value]) => [name.slice(fieldPrefix.length), value]),
  );
}

/** A line that begins with a slash is a command; any other is a message, also one with a space before the slash. */
async function write(userActions: SlackUserActions, user: string, channel: string, text: string): Promise<void> {
  const [, command, rest = ""] = /^(\/\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (command === undefined) await userActions.say({ user, channel, text: escaped(text.trim()) });
  else await userActions.command({ user, channel, command, text: rest.trimEnd() });
}

/** People type plain text: Slack escapes it before it is read as markup. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
