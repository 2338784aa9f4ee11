/** One process of the load without pgbench: some connections, each repeating the script until time is up. */
import { readFileSync } from "node:fs";
import { Client } from "pg";
import { nowMs } from "../measure.ts";
import { LOAD_PREFIX, WARM_UP_SECONDS } from "./protocol.ts";
import { parseLoadScript, randomBetween, type LoadScript } from "./script.ts";

type Constants = Readonly<Record<string, number>>;

async function runScript(client: Client, script: LoadScript, constants: Constants): Promise<void> {
  const values = new Map<string, string>(Object.entries(constants).map(([name, value]) => [name, String(value)]));
  for (const { name, low, high } of script.variables) values.set(name, randomBetween(low, high).toString());
  for (const [index, { text, parameters }] of script.statements.entries()) {
    await client.query({ name: `load${index}`, text, values: parameters.map((name) => values.get(name)) });
  }
}

async function main(): Promise<void> {
  const [url, file, clients, seconds, constantsText] = process.argv.slice(2);
  if (!url || !file || !constantsText)
    throw new Error("usage: node-client.ts <url> <file> <clients> <seconds> <constants>");
  const script = parseLoadScript(readFileSync(file, "utf8"));
  const constants: Constants = JSON.parse(constantsText);
  const connections = Array.from({ length: Number(clients) }, () => new Client(url));
  await Promise.all(connections.map((client) => client.connect()));
  const countFromMs = nowMs() + WARM_UP_SECONDS * 1_000;
  const endsAtMs = countFromMs + Number(seconds) * 1_000;
  let transactions = 0;
  await Promise.all(
    connections.map(async (client) => {
      while (nowMs() < endsAtMs) {
        await runScript(client, script, constants);
        if (nowMs() >= countFromMs) transactions += 1;
      }
    }),
  );
  const rate = (transactions * 1_000) / (nowMs() - countFromMs);
  await Promise.all(connections.map((client) => client.end()));
  process.stdout.write(`${LOAD_PREFIX}${rate}\n`);
}

await main();
