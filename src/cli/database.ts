/** The option that names the database, shared by every command that needs one. */
import { Option } from "commander";
import { checkDatabaseUrl } from "../db/connect.ts";
import { HeadroomError } from "../db/errors.ts";

export interface DatabaseUrlOption {
  readonly databaseUrl?: string | undefined;
}

/** `--database-url`, with DATABASE_URL standing in when it is left out. */
export function databaseUrlOption(): Option {
  return new Option("--database-url <url>", "PostgreSQL server to use, 15 or later").env("DATABASE_URL");
}

/** The URL, or an explanation of how to give one. */
export function requireDatabaseUrl(options: DatabaseUrlOption): string {
  if (options.databaseUrl !== undefined && options.databaseUrl !== "") return checkDatabaseUrl(options.databaseUrl);
  throw new HeadroomError("usage", "No database is named.", {
    hint: "Set DATABASE_URL, or pass --database-url postgresql://user:password@host:5432/database",
  });
}
