/**
 * The Slack page's forms: each does what a person would, and comes back to the page.
 */
import { Hono } from "hono";
import { z } from "zod";
import type { SandboxContext, SandboxEnv } from "../../core/exchange.ts";
import type { World } from "../../core/world.ts";
import { afterForm } from "../../pages/form.ts";
import { seeOther } from "../../pages/layout.ts";
import type { Live } from "../../pages/live.ts";
import type { SlackDesk } from "../desk.ts";
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
  press: z.preprocess((text) => JSON.parse(String(text)), z.tuple([z.string(), z.string()])),
});

/** How long a form waits for what it causes, so that the page which comes next has it, also without script. */
const lingerMs = 1_200;

export function slackPages(world: World, state: SlackState, desk: SlackDesk, live: Live): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/slack", (context) => {
    const visit = visitOf(world, state, context.req.query());
    return visit === undefined ? new Response("The cast is empty.", { status: 404 }) : slackPage(world, state, visit);
  });
  const act = <Where extends z.infer<typeof whereSchema>>(
    path: string,
    schema: z.ZodType<Where>,
    effect: (given: Where, form: Form) => Promise<unknown>,
  ): void => {
    routes.post(path, async (context) =>
      afterForm(async () => {
        const form = await formOf(context);
        const given = schema.parse(form);
        const changed = live.next(lingerMs);
        await effect(given, form);
        await changed;
        return seeOther(`/slack?${new URLSearchParams({ channel: given.channel, as: given.as }).toString()}`);
      }),
    );
  };
  act("/slack/act/click", clickSchema, ({ as, channel, ts, block, action, chosen }) =>
    desk.click({ user: as, actionId: action, blockId: block, channel, ts, chosen }),
  );
  act("/slack/act/press", pressSchema, ({ as, view, press: [blockId, actionId] }) =>
    desk.click({ user: as, viewId: view, blockId, actionId }),
  );
  act("/slack/act/write", writeSchema, ({ as, channel, text }) => write(desk, as, channel, text.trim()));
  act("/slack/act/submit", viewSchema, ({ as, view }, form) =>
    desk.submitView({ user: as, viewId: view, values: filledIn(form) }),
  );
  act("/slack/act/close", viewSchema, ({ as, view }) => desk.closeView({ user: as, viewId: view }));
  return routes;
}

type Form = Readonly<Record<string, string | readonly string[]>>;

async function formOf(context: SandboxContext): Promise<Form> {
  const body = await context.req.parseBody({ all: true });
  const form: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === "string") form[name] = value;
    else if (Array.isArray(value)) form[name] = value.filter((each) => typeof each === "string");
  }
  return form;
}

function filledIn(form: Form): FilledIn {
  return Object.fromEntries(
    Object.entries(form)
      .filter(([name]) => name.startsWith(fieldPrefix))
      .map(([name, value]) => [name.slice(fieldPrefix.length), value]),
  );
}

/** A line that begins with a slash is a command; any other is said. */
async function write(desk: SlackDesk, user: string, channel: string, text: string): Promise<void> {
  const [, command, rest = ""] = /^(\/\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (command === undefined) await desk.say({ user, channel, text: escaped(text) });
  else await desk.command({ user, channel, command, text: rest });
}

/** What people type is text: Slack escapes it before anybody reads it as markup. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
