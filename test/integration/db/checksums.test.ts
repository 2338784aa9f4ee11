/** A landed migration never changes: its checksum is recorded, and nothing rewrites it. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, test } from "vitest";
import { checksumFile, keepChecksums } from "../../../scripts/gen/checksums.ts";

const fixture = fileURLToPath(new URL("./fixtures/notes/", import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), "headroom-checksums-"));
afterAll(() => rm(scratch, { recursive: true, force: true }));

let root: string;
let copies = 0;
beforeEach(async () => {
  root = join(scratch, String((copies += 1)));
  await mkdir(root);
  await cp(fixture, join(root, "sql"), { recursive: true });
  await keepChecksums(root, false);
});

const landed = () => readFile(join(root, checksumFile), "utf8");
const migration = (name: string) => join(root, "sql/migrations", name);

test("every migration gets a line, once, and a check then finds nothing", async () => {
  expect(await landed()).toMatch(/^[0-9a-f]{64} {2}0001_roles\.sql\n[0-9a-f]{64} {2}0002_notes\.sql\n$/);
  expect(await keepChecksums(root, true)).toEqual({ added: [], problems: [] });
});

test("a new migration is added at the end, and a check before that says so", async () => {
  const before = await landed();
  await writeFile(migration("0003_more.sql"), "select 1;\n");
  expect(await keepChecksums(root, true)).toEqual({ added: ["0003_more.sql"], problems: [] });
  expect(await landed()).toBe(before);
  await keepChecksums(root, false);
  expect(await landed()).toMatch(/ {2}0003_more\.sql\n$/);
  expect((await landed()).startsWith(before)).toBe(true);
});

test.each([true, false])("one that changed is a problem, and its line stays (check: %s)", async (check) => {
  const before = await landed();
  await writeFile(migration("0002_notes.sql"), "select 2;\n");
  const { problems } = await keepChecksums(root, check);
  expect(problems).toEqual([expect.stringContaining("0002_notes.sql has changed since it landed")]);
  expect(await landed()).toBe(before);
});

test("one that was deleted or renamed is a problem, and its line stays", async () => {
  const before = await landed();
  await cp(migration("0002_notes.sql"), migration("0002_renamed.sql"));
  await rm(migration("0002_notes.sql"));
  const { problems } = await keepChecksums(root, false);
  expect(problems).toEqual([expect.stringContaining("0002_notes.sql is gone")]);
  expect((await landed()).startsWith(before)).toBe(true);
});

test("different line endings change nothing", async () => {
  const text = await readFile(migration("0002_notes.sql"), "utf8");
  await writeFile(migration("0002_notes.sql"), text.replaceAll("\n", "\r\n"));
  expect(await keepChecksums(root, true)).toEqual({ added: [], problems: [] });
});
