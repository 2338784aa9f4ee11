/** `headroom endpoint add`: creates an endpoint, or changes one. */
import { type Command, InvalidArgumentError } from "commander";
import { putEndpoint, type EndpointChanges } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, collect, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { named, ownerOption } from "./owner.ts";
import { showSecret } from "./secret.ts";

interface AddOptions extends CommonOptions {
  readonly url?: string;
  readonly topic?: readonly string[];
  /** False: emptied. */
  readonly topics?: false;
  readonly description?: string;
  readonly header?: readonly (readonly [string, string])[];
  readonly headers?: false;
  readonly workspace?: string;
  readonly allowPrivate?: boolean;
  readonly secretKey?: string;
}

export function registerAdd(endpoint: Command): void {
  addCommon(
    endpoint
      .command("add")
      .description("create an endpoint, or change the settings given here; the secret of a new one is shown only once")
      .argument("<name>", "lower-case letters, digits and dashes")
      .option("--url <url>", "where to send: an https URL with a public address")
      .option(
        "--topic <pattern>",
        "events to send: a type, a prefix such as transfers.*, or *; may be repeated",
        collect,
      )
      .option("--no-topics", "send it no events automatically")
      .option("--description <text>", "what it is for")
      .option(
        "--header <name: value>",
        "sent with every request; env:NAME takes the value from the environment",
        addHeader,
      )
      .option("--no-headers", "send no extra headers")
      .addOption(ownerOption())
      .option("--allow-private", "allow http and private addresses, for a sandbox; relays must allow them too")
      .addOption(secretKeyOption()),
  ).action(runAdd);
}

/** A value may be secret, and everybody on the machine can see a command line, so env:NAME is possible. */
function addHeader(text: string, before: readonly (readonly [string, string])[] | undefined) {
  const match = /^([^:\s]+)\s*:\s*(.*)$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined)
    throw new InvalidArgumentError('Give a name and a value, such as "authorization: env:ORDERS_TOKEN".');
  return [...(before ?? []), [match[1], valueOf(match[2])] as const];
}

function valueOf(text: string): string {
  if (!text.startsWith("env:")) return text;
  const value = process.env[text.slice("env:".length)];
  if (value !== undefined && value !== "") return value;
  throw new InvalidArgumentError(`The environment variable ${text.slice("env:".length)} is not set.`);
}

async function runAdd(name: string, options: AddOptions): Promise<void> {
  const key = await findSecretKey(options);
  const { created, secret } = await withDatabase(options, "endpoint add", (client) =>
    putEndpoint(client, name, changesOf(options), {
      key,
      allowPrivate: options.allowPrivate,
      workspaceId: options.workspace,
    }),
  );
  if (options.json === true) return printJson({ name, created, ...(secret === null ? {} : { secret }) });
  printLine(`${name} was ${created ? "created" : "changed"}.`);
  if (secret !== null) showSecret(secret);
  const whose = named(name, options.workspace);
  if (created && options.topic === undefined) {
    printLine(
      `It is sent no events yet. Next: headroom endpoint add ${whose} --topic "${options.workspace === undefined ? "transfers.*" : "capacity.*"}"`,
    );
  } else if (created) {
    printLine(`Try it: headroom endpoint test ${whose}`);
  }
}

function changesOf(options: AddOptions): EndpointChanges {
  return {
    url: options.url,
    topics: options.topics === false ? [] : options.topic,
    description: options.description,
    headers: options.headers === false ? null : options.header && Object.fromEntries(options.header),
  };
}
