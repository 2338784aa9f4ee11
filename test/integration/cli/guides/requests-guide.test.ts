/** The guide to requests is true: its commands work one after the other, and so does its statement. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, headroomProcess } from "../harness.ts";

const guide = await readFile(new URL("../../../../docs/guides/requests.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));
const db = await createTestDatabase();
const cwd = await mkdtemp(join(tmpdir(), "headroom-guide-"));
afterAll(() => rm(cwd, { recursive: true, force: true }));

test("every command of the guide succeeds, in its order", { timeout: 120_000 }, async () => {
  const commands = blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => text.trim().split("\n"));
  expect(commands.length).toBeGreaterThan(20);
  // The guide's year is the year it was written in.
  const year = new Date().getUTCFullYear();
  for (const command of commands) {
    const words = [...command.replaceAll("CR-2026-", `CR-${year}-`).matchAll(/"([^"]*)"|(\S+)/g)].map(
      (match) => match[1] ?? match[2] ?? "",
    );
    expect(words[0]).toBe("headroom");
    // Only a process has a folder of its own for files.
    const run = words.some((word) => word.endsWith(".txt")) ? headroomProcess : headroom;
    const outcome = await run(words.slice(1), { env: { DATABASE_URL: db.as("headroom_control").url }, cwd });
    expect([command, outcome.status, outcome.err]).toEqual([command, 0, ""]);
  }
});

test("the statement of the guide works for an operator", async () => {
  const [statement] = blocks.filter(({ language }) => language === "sql");
  const result = await db.as("headroom_control").pool.query(statement?.text ?? "");
  expect(result.rows.length).toBeGreaterThan(0);
});

test("there is no other kind of block", () => {
  expect(blocks.filter(({ language }) => !["sh", "sql"].includes(language))).toEqual([]);
  expect(guide.match(/^```/gm)).toHaveLength(blocks.length * 2);
});
