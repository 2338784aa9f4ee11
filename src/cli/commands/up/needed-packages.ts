/** The optional packages that only `headroom up` needs. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { HeadroomError } from "../../../db/errors.ts";

const manifestFile = z.object({ optionalDependencies: z.record(z.string(), z.string()) });

/** Refuses before anything is started: a failed import would name only the first missing package, in a stack trace. */
export function requirePackages(): void {
  const text = readFileSync(new URL("../../../../package.json", import.meta.url), "utf8");
  const missing = Object.keys(manifestFile.parse(JSON.parse(text)).optionalDependencies).filter(
    (name) => !isInstalled(name),
  );
  if (missing.length === 0) return;
  throw new HeadroomError(
    "packages_missing",
    `headroom up needs packages that are not installed: ${missing.join(", ")}.`,
    {
      hint: "Run npm install --include=optional. With --database-url, headroom up works without them, and so does every other command.",
    },
  );
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
