/** The README's piece of TypeScript runs unchanged, on an empty database. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createEmptyDatabase } from "../../../helpers/database.ts";
import { runEnvironment } from "../harness.ts";

const root = new URL("../../../../", import.meta.url);

const untilDelivered = `
while ((await client.query("select from outbox.attempts where state = 'DISPATCHED'")).rowCount === 0) await new Promise(setImmediate);
await relay.stop();
console.log((await client.query("select nspname from pg_namespace where nspowner = 'headroom_owner'::regrole order by 1")).rows.length);
await client.end();`;

test("the library's example delivers its row", { timeout: 120_000 }, async () => {
  const [, example = ""] = /^```ts\n(.*?)^```$/ms.exec(await readFile(new URL("README.md", root), "utf8")) ?? [];
  await using db = await createEmptyDatabase(18);
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--input-type=module-typescript", "--eval", example + untilDelivered],
    {
      cwd: fileURLToPath(root),
      env: { ...runEnvironment, DATABASE_URL: db.url },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect({ status: child.exitCode, out, err }).toEqual({ status: 0, out: "5\n", err: "" });
});
