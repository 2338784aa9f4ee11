/**
 * `npm run gen`: writes every file that is made from the migrated database, and adds the checksums of new migrations.
 * `npm run gen -- --check` writes nothing and fails if one of them is stale. Both fail if a landed migration has changed.
 *
 * A fresh temporary server is migrated by a role that is not a superuser, as in production, so that the files show
 * what users get. `--into <folder>` checks or writes the files elsewhere. To add a generator, add a line to the list.
 */
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "pg";
import * as prettier from "prettier";
import { startEmbedded } from "../src/db/embedded.ts";
import { HeadroomError } from "../src/db/errors.ts";
import { migrate } from "../src/db/migrate.ts";
import { readCatalogue } from "./gen/catalogue.ts";
import { describeDecision } from "./gen/decision.ts";
import { describeJobs } from "./gen/job-state-machine.ts";
import { describeLayers } from "./gen/layers.ts";
import { checksumFile, keepChecksums } from "./gen/checksums.ts";
import { describeLives } from "./gen/notification-life.ts";
import { describeNotifications, generateChannels } from "./gen/notifications.ts";
import { describePayments } from "./gen/payment-rules.ts";
import { describePaymentCases } from "./gen/payment-cases.ts";
import { describeRails } from "./gen/rails.ts";
import { describeRefusals, generateRefusals } from "./gen/refusals.ts";
import { dumpSchema } from "./gen/schema.ts";
import { describeStateMachine } from "./gen/state-machine.ts";
import { generateTypes } from "./gen/types.ts";
import { readRepository } from "./tidy/repository.ts";

interface Generator {
  /** From the repository's root. */
  readonly file: string;
  readonly generate: (client: Client) => Promise<string>;
}

const typesFile = "src/db/generated.gen.ts";

function readTypeScript(): string {
  const files = readRepository(new URL("../", import.meta.url)).matching(/\.tsx?$/);
  return files.flatMap(({ path, text }) => (path === typesFile ? [] : [text])).join("\n");
}

const generators: readonly Generator[] = [
  { file: typesFile, generate: async (client) => generateTypes(await readCatalogue(client), readTypeScript()) },
  { file: "src/db/refusals.gen.ts", generate: generateRefusals },
  { file: "src/notify/channels.gen.ts", generate: generateChannels },
  { file: "sql/schema.sql", generate: dumpSchema },
  { file: "docs/state-machine.md", generate: describeStateMachine },
  { file: "docs/decision.md", generate: describeDecision },
  { file: "docs/job-state-machine.md", generate: describeJobs },
  { file: "docs/payment-rules.md", generate: describePayments },
  { file: "docs/payment-cases.md", generate: describePaymentCases },
  { file: "docs/notifications.md", generate: describeNotifications },
  { file: "docs/notification-life.md", generate: describeLives },
  { file: "docs/reference/rails.md", generate: describeRails },
  {
    file: "docs/architecture.md",
    generate: () => describeLayers(new URL("../docs/architecture.md", import.meta.url)),
  },
  {
    file: "docs/reference/http.md",
    generate: (client) => describeRefusals(client, new URL("../docs/reference/http.md", import.meta.url)),
  },
];

async function withMigratedDatabase<T>(work: (client: Client) => Promise<T>): Promise<T> {
  await using server = await startEmbedded({
    ephemeral: true,
    database: "postgres",
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  const password = randomBytes(12).toString("hex");
  await withClient(server.url, async (client) => {
    await client.query(`create role migrator login createrole createdb password '${password}'`);
    await client.query("create database generated owner migrator");
  });
  const url = new URL(server.urlFor("generated"));
  url.username = "migrator";
  url.password = password;
  await withClient(url.toString(), (client) => migrate(client));
  // Awaited here, because the server is stopped as soon as this function returns.
  return await withClient(server.urlFor("generated"), work);
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function formatted(file: string, text: string): Promise<string> {
  if (file.endsWith(".sql")) return text;
  const settings = await prettier.resolveConfig(file);
  return prettier.format(text, { ...settings, filepath: file });
}

const repository = fileURLToPath(new URL("../", import.meta.url));

/** `root`: the folder of the files; the repository, unless a test names another folder. */
async function main(check: boolean, root: string): Promise<void> {
  const { added, problems } = await keepChecksums(repository, check);
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exitCode = 1;
    return;
  }
  const stale: string[] = added.length > 0 ? [checksumFile] : [];
  await withMigratedDatabase(async (client) => {
    for (const { file, generate } of generators) {
      const path = join(root, file);
      const present = await readFile(path, "utf8").catch(() => undefined);
      if (check && present === undefined) {
        stale.push(file);
        continue;
      }
      const wanted = await formatted(join(repository, file), await generate(client));
      if (present === wanted) continue;
      stale.push(file);
      if (!check) await writeFile(path, wanted);
    }
  });
  if (stale.length === 0) return console.log("Generated files are up to date.");
  if (!check) return console.log(`Written: ${stale.join(", ")}`);
  const called = stale.includes(typesFile)
    ? " SQL has changed, or TypeScript calls a function that nobody called before."
    : "";
  console.error(`Stale: ${stale.join(", ")}.${called} Run: npm run gen`);
  process.exitCode = 1;
}

try {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, into: { type: "string" } } });
  await main(values.check === true, values.into ?? repository);
} catch (error) {
  if (!(error instanceof HeadroomError)) throw error;
  console.error([error.message, error.detail, error.hint].filter(Boolean).join("\n"));
  process.exitCode = 1;
}
