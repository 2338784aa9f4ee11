/** Reads a peer's version from its own manifest, so that the report is never wrong about it. */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

export function installedVersion(packageName: string): string {
  const manifest = findPackageJSON(packageName, import.meta.url);
  if (manifest === undefined) throw new Error(`${packageName} is not installed`);
  const parsed: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  if (typeof parsed === "object" && parsed !== null && "version" in parsed && typeof parsed.version === "string") {
    return parsed.version;
  }
  throw new Error(`${manifest} holds no version`);
}
