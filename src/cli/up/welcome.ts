/**
 * What a person reads when everything is up: what to open, in the order in which a newcomer would, and how to end it.
 */
import { styleText } from "node:util";
import { describeDatabaseUrl } from "../../db/connect.ts";
import type { RelayCommandOptions } from "../relay/options.ts";
import { describeStart, type RunningRelay } from "../relay/run.ts";
import type { Product } from "./product.ts";
import type { UpServer } from "./server.ts";

export interface Started {
  readonly server: UpServer;
  readonly running: RunningRelay;
  readonly product: Product | undefined;
  readonly options: RelayCommandOptions & { readonly ephemeral?: boolean };
}

export function welcome(started: Started): string[] {
  const { server, product } = started;
  const shown = server.embedded ? server.url : describeDatabaseUrl(server.url);
  return [
    ...(product === undefined ? describeStart(server.url, started.running, started.options) : whatToOpen(product)),
    ...(server.embedded
      ? [entry("data", started.options.ephemeral === true ? "thrown away at the end" : `kept in ${server.home ?? ""}`)]
      : []),
    "",
    "Look into the database:",
    `  psql "${shown}"`,
    ...(product === undefined ? afterRelay(shown) : firstSteps(product)),
    "Ctrl-C stops everything.",
    "",
  ];
}

function entry(name: string, text: string): string {
  return `${name.padEnd(10)} ${text}`;
}

function whatToOpen({ url, sandbox, isNew }: Product): string[] {
  return [
    styleText("bold", isNew ? "Headroom is up, with an example in it." : "Headroom is up again, with what was there."),
    "",
    entry("Slack", `${sandbox.url}/slack      the channel; be any of the sample people`),
    entry("mailbox", `${sandbox.url}/mail       what the customer gets`),
    entry("sandbox", `${sandbox.url}            Linear, GitHub, Stripe; and make any of them fail`),
    entry("API", `${url}/docs       what can be asked over HTTP`),
    entry("sign-in", `${url}/auth/sign-in   in a browser; a program brings a token, in another terminal:`),
    entry("", "npx headroom keys token --member riley"),
  ];
}

function firstSteps({ sandbox }: Product): string[] {
  return [
    "",
    "Two minutes, from a request to its provisioning:",
    `  1. Open ${sandbox.url}/slack as Riley and type:`,
    "     /capacity create 32XL x4 us-east-1 for Acme email buyer@acme.example cost 61500",
    "  2. As Casey press “Approve commercially”, as Ines “Approve technically”.",
    `  3. Open ${sandbox.url}/mail, follow the link in the customer's mail, and confirm.`,
    "More of this: docs/guides/first-ten-minutes.md",
    "",
  ];
}

function afterRelay(shown: string): string[] {
  return [
    "Enqueue a first row; the rail `log` shows its delivery here:",
    `  psql "${shown}" -c "${firstRow}"`,
    "See what became of it (in another terminal):",
    `  npx headroom outbox status --database-url "${shown}"`,
  ];
}

const firstRow = `select * from outbox.enqueue('notifications', null, 'hello', 'first', 'log', '{\\"hello\\": \\"world\\"}')`;
