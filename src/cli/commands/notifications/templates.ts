/** `headroom notifications templates …`: the texts of messages in a workspace, with a preview of a change. */
import { type Command, Option } from "commander";
import {
  getTemplate,
  listTemplates,
  previewTemplate,
  resetTemplate,
  setTemplate,
  type Template,
  type TemplatePreview,
} from "../../../notify/index.ts";
import { chosenChannels } from "../../../notify/notification.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { addText, readText, type TextOptions } from "./template-text.ts";

interface NamedOptions extends CommonOptions, WorkspaceOption {
  readonly language: string;
}

const channels = chosenChannels.map(({ channel }) => channel);

export function registerTemplates(notifications: Command): void {
  const templates = notifications.command("templates").description("the texts of messages in a workspace");
  addCommon(templates.command("list").description("list all messages, and which of them have the workspace's own text"))
    .addOption(workspaceOption())
    .action(runList);
  named(templates, "show", "show the text of a message, and its variables")
    .option("--text", "print nothing but the title, an empty line and the body")
    .action(runShow);
  addText(named(templates, "preview", "show what a message would say, by each channel; refuses an invalid text"))
    .addOption(new Option("--channel <channel>", "only by this one").choices(channels))
    .action(runPreview);
  addText(named(templates, "set", "change the text of a message, from the next one on")).action(runSet);
  named(templates, "reset", "restore the default text of a message; the other text is deleted").action(runReset);
}

function named(templates: Command, verb: string, description: string): Command {
  const command = templates
    .command(verb)
    .description(description)
    .argument("<name>", "its name, as list shows it")
    .addOption(new Option("--language <code>", "which language, by its two letters").default("en"))
    .addOption(workspaceOption());
  return addCommon(command);
}

function whichOf(name: string, { workspace, language }: NamedOptions) {
  return { name, workspaceId: workspace, language };
}

async function runList(options: CommonOptions & WorkspaceOption): Promise<void> {
  const { templates } = orFail(
    await withDatabase(options, "notifications templates", (client) =>
      listTemplates(client, { workspaceId: options.workspace }),
    ),
  );
  if (options.json === true) return printJson({ templates });
  printTable(templates, [
    { title: "NAME", value: (row) => row.name },
    { title: "LANGUAGE", value: (row) => row.language },
    { title: "FOR", value: (row) => row.audience },
    { title: "WHEN", value: (row) => row.meaning },
    { title: "SET", value: (row) => row.updatedAt },
    { title: "BY", value: (row) => row.updatedBy },
  ]);
  printLine(`\nNext: headroom notifications templates show <name> --workspace ${options.workspace}`);
}

async function runShow(name: string, options: NamedOptions & { readonly text?: boolean }): Promise<void> {
  const { template } = orFail(
    await withDatabase(options, "notifications templates", (client) => getTemplate(client, whichOf(name, options))),
  );
  if (options.json === true) printJson(template);
  else if (options.text === true) printText(template);
  else printTemplate(template);
}

async function runPreview(
  name: string,
  options: NamedOptions & TextOptions & { readonly channel?: string },
): Promise<void> {
  const text = await readText(options);
  const { samples } = orFail(
    await withDatabase(options, "notifications templates", (client) =>
      previewTemplate(client, whichOf(name, options), text),
    ),
  );
  if (options.json === true) return printJson({ samples });
  const shown = channels.filter((channel) => options.channel === undefined || options.channel === channel);
  for (const { sample, channels: said } of samples) {
    for (const channel of shown) {
      const words = wordsOf(said, channel);
      if (words !== undefined) printLine(`--- ${channel}, ${sample}\n${lines(words)}\n`);
    }
  }
  if (
    options.channel !== undefined &&
    samples.every(({ channels: said }) => said[options.channel ?? "email"] === undefined)
  )
    printLine(`${name} does not go by ${options.channel}.`);
}

/** The text as people read it there, without what mails and Slack always add. */
function wordsOf(said: TemplatePreview["channels"], channel: string): string | undefined {
  if (channel === "in-app") return said["in-app"] && `${said["in-app"].title}\n\n${said["in-app"].body}`;
  if (channel === "email") return said.email && `${said.email.subject}\n\n${said.email.text.trimEnd()}`;
  if (channel === "slack") return said.slack?.blocks.map(({ text }) => text?.text ?? "").join("\n");
  return said[channel]?.text;
}

async function runSet(name: string, options: NamedOptions & TextOptions): Promise<void> {
  const { title, body } = await readText(options);
  if (title === undefined || body === undefined) {
    throw new HeadroomError("usage", "A template has a title and a body, and not both were given.", {
      hint: "Pass --title and --body, or --file. Nothing was changed.",
    });
  }
  const { template } = orFail(
    await withDatabase(options, "notifications templates", (client) =>
      setTemplate(client, whichOf(name, options), { title, body }),
    ),
  );
  if (options.json === true) return printJson(template);
  printLine(`From the next one on, ${name} says this in ${options.workspace}.`);
  printLine(`Next: headroom notifications templates preview ${name} --workspace ${options.workspace}`);
}

async function runReset(name: string, options: NamedOptions): Promise<void> {
  const { changed } = orFail(
    await withDatabase(options, "notifications templates", (client) => resetTemplate(client, whichOf(name, options))),
  );
  if (options.json === true) return printJson({ name, changed });
  printLine(
    changed ? `${name} has its default text again.` : `${name} had its default text already. Nothing was changed.`,
  );
}

function printText({ title, body }: Pick<Template, "title" | "body">): void {
  printLine(lines(`${title}\n\n${body}`));
}

function lines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function printTemplate(template: Template): void {
  printLine(`${template.name} (${template.language}), for a ${template.audience}: ${template.meaning}`);
  printLine(
    template.updatedAt === null
      ? "as it comes"
      : `in the workspace's own words, set ${template.updatedAt.toISOString()} by ${visible(template.updatedBy ?? "")}`,
  );
  printLine();
  printText(template);
  printLine();
  if (template.variables.length === 0) return printLine("It has no variables.");
  printTable(template.variables, [
    { title: "VARIABLE", value: (row) => `{{${row.variable}}}` },
    { title: "REQUIRED", value: (row) => (row.required ? "yes" : "no") },
    { title: "WHAT IT IS", value: (row) => row.meaning },
    { title: "SUCH AS", value: (row) => row.example },
  ]);
  printLine("\n{{#price}}…{{/price}} is there if there is a price, {{^price}}…{{/price}} if there is none.");
}
