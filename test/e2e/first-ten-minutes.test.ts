/** The guide to the first ten minutes is correct: a real browser and the command line do every step, in order. */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { makeEnterableFolder } from "../helpers/data-folder.ts";
import { headroom, startHeadroom } from "../integration/cli/harness.ts";

const guide = await readFile(new URL("../../docs/guides/first-ten-minutes.md", import.meta.url), "utf8");
const browser = startBrowser();
const cwd = await makeEnterableFolder("headroom-first-");
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** A line of the guide: a step in the browser, or a command. */
type Step = { readonly kind: "browser" | "command"; readonly text: string };

function stepsOf(text: string): Step[] {
  const year = new Date().getUTCFullYear();
  const steps: Step[] = [];
  let inBlock = false;
  const [body = ""] = text.split("\n## Next steps");
  for (const line of body.replaceAll("CR-2026-", `CR-${year}-`).split("\n")) {
    if (line.startsWith("```")) inBlock = !inBlock;
    else if (inBlock && line !== "") steps.push({ kind: "command", text: line });
    else if (line.startsWith("- ")) steps.push({ kind: "browser", text: line.slice(2) });
  }
  return steps;
}

interface Addresses {
  readonly server: string;
  readonly sandbox: string;
}

/** The test uses free ports; the guide names the defaults. */
function actualAddress(text: string, { server, sandbox }: Addresses): string {
  return text.replace("http://127.0.0.1:8401", sandbox).replace("http://127.0.0.1:8400", server);
}

interface Action {
  readonly pattern: RegExp;
  run(page: Page, words: string[], addresses: Addresses): Promise<void>;
}

const actions: readonly Action[] = [
  {
    pattern: /^Open <(.+)>\.$/,
    async run(page, [address = ""], addresses) {
      await page.goto(actualAddress(address, addresses));
    },
  },
  {
    pattern: /^As \*\*(.+)\*\*, type `(.+)`\.$/,
    async run(page, [name = "", text = ""]) {
      await become(page, name);
      await page.getByRole("textbox").last().fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    },
  },
  {
    pattern: /^As \*\*(.+)\*\*, press \*\*(.+)\*\*\.$/,
    async run(page, [name = "", label = ""]) {
      await become(page, name);
      await lastButton(page, label).click();
    },
  },
  {
    pattern: /^As \*\*(.+)\*\*, press \*\*(.+)\*\*, and give the reason `(.+)`\.$/,
    async run(page, [name = "", label = "", reason = ""]) {
      await become(page, name);
      await lastButton(page, label).click();
      const form = page.getByRole("dialog");
      await form.getByRole("textbox").fill(reason);
      await form.locator("button", { hasText: label }).last().click();
      await form.waitFor({ state: "detached" });
    },
  },
  {
    pattern: /^Send the form with \*\*(.+)\*\*\.$/,
    async run(page, [label = ""]) {
      const form = page.getByRole("dialog");
      await form.getByRole("button", { name: label, exact: true }).click();
      await form.waitFor({ state: "detached" });
    },
  },
  {
    pattern: /^For \*\*(.+)\*\*, choose \*\*(.+)\*\*\.$/,
    async run(page, [which = "", outcome = ""]) {
      await page.getByLabel("Which runs").selectOption({ label: which });
      await page.getByLabel("Outcome").selectOption({ label: outcome });
      await page.getByRole("button", { name: "Use it for the next runs" }).click();
    },
  },
  {
    pattern: /^See “(.+)”\.$/,
    run: (page, [text = ""]) => page.getByText(text).last().waitFor({ timeout: 60_000 }),
  },
  {
    pattern: /^Follow the link of the mail “(.+)”\.$/,
    async run(page, [subject = ""]) {
      await page.getByRole("link", { name: subject }).first().click();
      const link = await page.locator('a[href*="/confirm/"]').first().getAttribute("href");
      await page.goto(link ?? "");
    },
  },
  {
    pattern: /^Press \*\*(.+)\*\*\.$/,
    run: (page, [label = ""]) => page.getByRole("button", { name: label, exact: true }).click(),
  },
];

/** Chooses who to be; the page reloads as that person. */
async function become(page: Page, name: string): Promise<void> {
  const chooser = page.getByRole("combobox", { name: "You are" });
  const option = await chooser.locator("option", { hasText: name }).getAttribute("value");
  await chooser.selectOption(option);
  await page.getByText(`You see this as ${name}`).waitFor();
}

/** The newest message is the last. */
function lastButton(page: Page, label: string): Locator {
  return page.locator("button", { hasText: new RegExp(`^\\s*${label}\\s*$`) }).last();
}

async function inBrowser(page: Page, text: string, addresses: Addresses): Promise<void> {
  for (const action of actions) {
    const found = action.pattern.exec(text);
    if (found === null) continue;
    await action.run(page, found.slice(1), addresses);
    return;
  }
  throw new Error(`The guide has a step that this test does not know: ${text}`);
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env["HEADROOM_SCREENSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Starts everything on free ports, and resolves once it is up. */
async function startUp(folder: string): Promise<ReturnType<typeof startHeadroom>> {
  const up = startHeadroom(["up", "--port", "0", "--sandbox-port", "0", "--database-port", "0"], { cwd: folder });
  await up.line((line) => line.includes("Ctrl-C"), 60_000);
  return up;
}

/** Sends over HTTP what the guide sends with curl, with the token that the command in it prints. */
async function overHttp(text: string, folder: string, addresses: Addresses): Promise<void> {
  const [, address = "", command = ""] =
    /^curl "(\S+)" -H "Authorization: Bearer \$\(npx headroom (.+)\)"$/.exec(text) ?? [];
  const token = await headroom(command.split(" "), { cwd: folder });
  const answer = await fetch(actualAddress(address, addresses), {
    headers: { authorization: `Bearer ${token.out.trim()}` },
  });
  expect([text, answer.status, await answer.json()]).toEqual([
    text,
    200,
    expect.arrayContaining([expect.objectContaining({ state: "COMPLETED" })]),
  ]);
}

async function atCommandLine(text: string, folder: string): Promise<void> {
  expect(text).toMatch(/^npx headroom /);
  const [line = ""] = text.split("#");
  // The shell's quotes around a word without spaces are taken off as the shell does.
  const words = line.trim().split(/\s+/).slice(2);
  const outcome = await headroom(
    words.map((word) => word.replace(/^'(.*)'$/, "$1")),
    { cwd: folder },
  );
  expect([text, outcome.status, outcome.err]).toEqual([text, 0, expect.not.stringContaining("error")]);
}

test("the commands of the README work next to npm start", { timeout: 120_000 }, async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const commands = stepsOf(readme).filter(({ kind, text }) => kind === "command" && text.startsWith("npx headroom"));
  expect(commands.length).toBeGreaterThan(4);
  const folder = await makeEnterableFolder("headroom-readme-");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const up = await startUp(folder);
  for (const { text } of commands) await atCommandLine(text, folder);
  expect(await up.end("SIGTERM")).toMatchObject({ status: 0 });
});

test("every step of the first ten minutes works as written", { timeout: 240_000 }, async () => {
  const steps = stepsOf(guide);
  expect(steps.filter(({ kind }) => kind === "browser").length).toBeGreaterThan(20);
  expect(steps.slice(0, 2).map(({ text }) => text)).toEqual(["npm ci", "npm start"]);
  const up = await startUp(cwd);
  const addressOn = async (label: string): Promise<string> =>
    /http:\/\/[\d.:]+/.exec(await up.line((line) => line.startsWith(label)))?.[0] ?? "";
  const addresses = { sandbox: await addressOn("Slack"), server: await addressOn("API") };

  const page = await browser.current.newPage({ viewport: { width: 1200, height: 900 } });
  for (const [index, { kind, text }] of steps.slice(2).entries()) {
    if (kind === "browser") {
      await inBrowser(page, text, addresses).catch((cause: unknown) => {
        throw new Error(`Step “${text}” does not work.`, { cause });
      });
      await keepPicture(page, `first-${String(index).padStart(2, "0")}`);
      continue;
    }
    if (text.startsWith("curl ")) await overHttp(text, cwd, addresses);
    else await atCommandLine(text, cwd);
  }
  await page.close();
  expect(await up.end("SIGTERM")).toMatchObject({ status: 0 });
});
