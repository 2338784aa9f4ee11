/** `headroom notifications templates …` against a real database, as the operators' role. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataFolder } from "../../../helpers/data-folder.ts";
import { startWorkflow } from "../../capacity/harness.ts";
import { headroom, type Outcome } from "../harness.ts";

const w = await startWorkflow(18);
const env = { DATABASE_URL: w.db.as("headroom_control").url, HEADROOM_WORKSPACE: "acme" };

function templates(...parameters: string[]): Promise<Outcome> {
  return headroom(["notifications", "templates", ...parameters], { env });
}

test("a text is shown as a file has it, tested, set from a file and from standard input, listed, and removed", async () => {
  const text = (await templates("show", "declined", "--text")).out;
  expect(text).toMatch(
    /^\{\{capacity\}\}: cancelled \(\{\{request\}\}\)\n\nYou declined the offer\. .*\n\n\{\{terms\}\}\n$/,
  );
  const file = join(dataFolder, "declined.txt");
  await writeFile(file, text.replace("You declined the offer.", "A pity.").replaceAll("\n", "\r\n"));
  const preview = await templates("preview", "declined", "--file", file);
  expect(preview).toMatchObject({ status: 0, err: "" });
  expect(preview.out).toMatch(
    /^--- email, with a price\n4 × 32XL .*\n\nHello Initech,\n\nA pity\. Nothing was provisioned\.\n/,
  );
  expect((await templates("show", "declined")).out).toContain("as it comes\n");
  const set = await templates("set", "declined", "--file", file);
  expect(set).toMatchObject({ status: 0, err: "" });
  expect(set.out).toContain("From the next one on, declined says this in acme.");
  expect((await templates("show", "declined")).out).toMatch(/in the workspace's own words, set \S+Z by cli:\S+\n\n/);
  expect((await templates("list")).out).toMatch(/^declined +en +customer +they declined +\S+Z +cli:\S+$/m);
  const piped = await headroom(["notifications", "templates", "set", "declined", "--file", "-", "--json"], {
    env,
    stdin: "No {{request}}\n\nWell.\n",
  });
  expect(JSON.parse(piped.out)).toMatchObject({
    name: "declined",
    title: "No {{request}}",
    body: "Well.",
    changed: true,
  });
  expect((await templates("reset", "declined")).out).toBe("declined has its default text again.\n");
  expect((await templates("reset", "declined")).out).toContain("Nothing was changed.");
  expect((await templates("show", "declined", "--text")).out).toBe(text);
});

test("a preview shows each channel, or the one that is named", async () => {
  const all = (await templates("preview", "asked")).out;
  for (const channel of ["in-app", "email", "slack"]) expect(all).toContain(`--- ${channel}, with a price\n`);
  const slack = (await templates("preview", "asked", "--channel", "slack")).out;
  expect(slack).toContain("*Your decision is needed: 4 × 32XL in us-east-1 (CR-2026-000042)*");
  expect(slack).not.toContain("--- email");
  expect((await templates("preview", "offer", "--channel", "slack")).out).toBe("offer does not go by slack.\n");
  const { samples } = JSON.parse((await templates("preview", "asked", "--json")).out);
  expect(Object.keys(samples[0].channels).toSorted()).toEqual(["email", "in-app", "slack"]);
});

test.each([
  [["show", "nothing"], 1, "There is no template of that name."],
  [["show", "offer", "--language", "xx"], 1, "There is no template offer in that language."],
  [["show", "offer", "--workspace", "nowhere"], 1, "There is no such workspace."],
  [["set", "offer", "--title", "T"], 2, "A template has a title and a body, and not both were given."],
  [["set", "offer", "--title", "T", "--file", "x"], 2, "--file has both the title and the body."],
  [["set", "offer", "--file", "/no/such/file"], 2, "The file /no/such/file cannot be read."],
  [["set", "offer", "--file", "-"], 2, "The file does not have a title, an empty line and a body."],
  [["set", "offer", "--title", "T", "--body", "{{dedline}}"], 1, "{{dedline}} is not one of its variables: request,"],
  [["preview", "offer", "--body", "{{terms}}"], 1, "{{deadline}} is required, and is missing"],
  [["preview", "offer", "--channel", "pigeon"], 2, "pigeon"],
] as const)("the fault is named, and nothing is changed: %j", async (parameters, status, words) => {
  const outcome = await templates(...parameters);
  expect([outcome.status, outcome.out]).toEqual([status, ""]);
  expect(outcome.err).toContain(words);
});
