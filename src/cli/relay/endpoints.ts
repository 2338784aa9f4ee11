/**
 * Endpoints of the built-in webhook rail, from a file:
 *
 *     { "orders": { "url": "https://example.com/hooks", "secrets": ["env:ORDERS_SECRET"] },
 *       "*": { … } }
 *
 * A row goes to the endpoint that its destination names; without a destination, to the one that its key up to the first colon
 * names; otherwise to "*". These names are a separate name space: rows for endpoints of the database never come here, whatever their
 * names. Subscriptions of workspaces put `file:` before the name. Secrets and header values may be given as `env:NAME`, so that
 * the file need not be secret.
 *
 * Owns: reading and checking the file, once, at the start. Does not own: what an endpoint is (the rail's config.ts does).
 */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { HeadroomError } from "../../db/errors.ts";
import type { RailMessage } from "../../contract/rail.ts";
import { parseWebhookEndpoint, type WebhookEndpoint } from "../../rails/webhook/config.ts";

export type Endpoints = ReadonlyMap<string, WebhookEndpoint>;

const fileSchema = z.record(
  z.string().min(1).max(200),
  z.strictObject({
    url: z.string(),
    secrets: z.array(z.string()),
    headers: z.record(z.string(), z.string()).optional(),
  }),
);

export async function readEndpoints(path: string): Promise<Endpoints> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new HeadroomError("usage", `The endpoints file ${path} cannot be read.`, { cause, hint: "Check its path." });
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the text, which may hold a secret.
    throw new HeadroomError("usage", `The endpoints file ${path} is not JSON.`, { cause, hint: example });
  }
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message}`);
    throw new HeadroomError("usage", `The endpoints file ${path} is malformed.`, {
      detail: problems.join("\n"),
      hint: example,
    });
  }
  return new Map(Object.entries(parsed.data).map(([name, settings]) => [name, endpointOf(name, settings)]));
}

const example = 'It looks like { "orders": { "url": "https://example.com/hooks", "secrets": ["env:ORDERS_SECRET"] } }';

function endpointOf(name: string, settings: z.infer<typeof fileSchema>[string]): WebhookEndpoint {
  const verdict = parseWebhookEndpoint({
    url: settings.url,
    secrets: settings.secrets.map((secret) => valueOf(secret, name)),
    ...(settings.headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(settings.headers).map(([header, value]) => [header, valueOf(value, name)]),
          ),
        }),
  });
  if (verdict.ok) return verdict.endpoint;
  throw new HeadroomError("usage", `Endpoint "${name}" is malformed.`, {
    detail: verdict.reason,
    hint: "Correct it in the endpoints file.",
  });
}

function valueOf(text: string, endpoint: string): string {
  if (!text.startsWith("env:")) return text;
  const name = text.slice("env:".length);
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  throw new HeadroomError("usage", `Endpoint "${endpoint}" needs the environment variable ${name}, which is not set.`, {
    hint: `Set ${name} before starting the relay.`,
  });
}

/** The endpoint of a row; null if the file does not have it. */
export function endpointFor(endpoints: Endpoints, message: RailMessage): WebhookEndpoint | null {
  const named = message.destination?.replace(/^file:/, "") ?? message.key?.split(":", 1)[0];
  return (named === undefined ? undefined : endpoints.get(named)) ?? endpoints.get("*") ?? null;
}
