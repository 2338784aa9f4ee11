/** The option that names the database, shared by every command that needs one. */
import { Option } from "commander";
import type { Client } from "pg";
import { checkDatabaseUrl, withConnection } from "../db/connect.ts";
import { HeadroomError } from "../db/errors.ts";
import { addTheRest, isEngineAlone, readInstalledParts } from "../db/installed.ts";
import { schemaLayers } from "../db/layers.ts";
import { findLocalServer } from "./local-server.ts";

export interface DatabaseUrlOption {
  readonly databaseUrl?: string | undefined;
}

/** `--database-url`, or DATABASE_URL when it is left out. */
export function databaseUrlOption(): Option {
  return new Option("--database-url <url>", "PostgreSQL database to use, version 15 or later").env("DATABASE_URL");
}

/** The URL, or an explanation of how to give one. */
export function requireDatabaseUrl(options: DatabaseUrlOption): string {
  if (options.databaseUrl !== undefined && options.databaseUrl !== "") return checkDatabaseUrl(options.databaseUrl);
  throw new HeadroomError("usage", "No database was given.", {
    hint: "Set DATABASE_URL, or pass --database-url postgresql://user:password@host:5432/database",
  });
}

/** The given URL, or that of the server that `headroom up` runs in this folder. */
export async function findDatabaseUrl(options: DatabaseUrlOption): Promise<string> {
  if (options.databaseUrl !== undefined && options.databaseUrl !== "") return checkDatabaseUrl(options.databaseUrl);
  const local = await findLocalServer();
  if (local !== undefined) return local.url;
  throw new HeadroomError("usage", "No database was given, and headroom up is not running in this folder.", {
    hint: "Set DATABASE_URL, pass --database-url postgresql://user:password@host:5432/database, or start one: headroom up",
  });
}

/** Runs the work on one connection to the database that the options mean. */
export async function withDatabase<T>(
  options: DatabaseUrlOption,
  command: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const url = await findDatabaseUrl(options);
  const explained = async (client: Client): Promise<T> => {
    try {
      return await work(client);
    } catch (error) {
      throw await explainMissingSchema(client, error);
    }
  };
  return withConnection(url, explained, { applicationName: `headroom ${command}` });
}

/** SQLSTATEs of a missing schema, table, function or type. */
const missingStates = new Set(["3F000", "42P01", "42883", "42704"]);
const productSchemas = schemaLayers.filter((layer) => layer.part === "product").map((layer) => layer.schema);
const ofProduct = new RegExp(`\\b(${productSchemas.join("|")})\\b`);

/** A database without our schema, or with only a part of it, is the most frequent first mistake, so it has its own message. */
async function explainMissingSchema(client: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof HeadroomError) || !missingStates.has(error.sqlState ?? "")) return error;
  const parts = await readInstalledParts(client).catch(() => []);
  if (isEngineAlone(parts) && ofProduct.test(error.message)) {
    return new HeadroomError("engine_only", "This database has only Headroom's engine, and this needs the rest.", {
      hint: addTheRest,
      cause: error,
    });
  }
  if (error.code !== "schema_missing") return error;
  return new HeadroomError("schema_missing", "The database has no Headroom schema, or an older one.", {
    hint: "Run: headroom migrate",
    cause: error,
  });
}
