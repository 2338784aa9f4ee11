/**
 * What `headroom up` prints when everything is up: what to open, in a newcomer's order, and how to stop it.
 */
import { styleText } from "node:util";
import { describeDatabaseUrl } from "../../../db/connect.ts";
import type { RelayCommandOptions } from "../../relay/options.ts";
import { describeStart, type RunningRelay } from "../../relay/run.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Product } from "./product.ts";

export interface Started {
  readonly server: DatabaseServer;
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
      ? [entry("data", started.options.ephemeral === true ? "deleted at the end" : `kept in ${server.home ?? ""}`)]
      : []),
    "",
    "Open the database:",
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
    styleText(
      "bold",
      isNew ? "Headroom is up, with an example in it." : "Headroom is up again, with its earlier data.",
    ),
    "",
    entry("Slack", `${sandbox.url}/slack      the channel; choose there who you are`),
    entry("mailbox", `${sandbox.url}/mail       the mail that customers get`),
    entry("sandbox", `${sandbox.url}            Linear, GitHub and Stripe, with faults to switch on`),
    entry("order", `${url}/new        where customers order and pay`),
    entry("API", `${url}/docs       the HTTP API`),
    entry("sign-in", `${url}/auth/sign-in   in a browser; programs use a key, made in another terminal:`),
    entry("", "npx headroom keys token --member riley"),
  ];
}

function firstSteps({ sandbox }: Product): string[] {
  return [
    "",
    "Two minutes, from a request to capacity that runs:",
    `  1. Open ${sandbox.url}/slack as Riley and type:`,
    "     /capacity create 32XL x4 us-east-1 for Acme email buyer@acme.example cost 61500",
    "  2. As Casey press “Approve commercially”, as Ines “Approve technically”.",
    `  3. Open ${sandbox.url}/mail, follow the link in the customer's mail, and pay with the card 4242 4242 4242 4242.`,
    `  4. See ${sandbox.url}/github run the workflow until the request is COMPLETED; or follow it in another terminal:`,
    "     npx headroom jobs logs --follow CR-…",
    "More: docs/guides/first-ten-minutes.md",
    "",
  ];
}

function afterRelay(shown: string): string[] {
  return [
    "Enqueue a first row; the rail `log` shows its delivery here:",
    `  psql "${shown}" -c "${firstRow}"`,
    "See its state (in another terminal):",
    `  npx headroom outbox status --database-url "${shown}"`,
  ];
}

const firstRow = `select * from outbox.enqueue('notifications', null, 'hello', 'first', 'log', '{\\"hello\\": \\"world\\"}')`;
