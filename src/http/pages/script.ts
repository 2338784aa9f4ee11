/**
 * A script of ours, inline in a page. Its hash is in the content security policy, so that no other script runs.
 */
import { raw } from "hono/html";
import { sha256 } from "../../db/hash.ts";
import type { Html } from "./page.ts";

export interface Script {
  readonly element: Html;
  /** For `script-src`. */
  readonly source: string;
}

export function scriptOf(text: string): Script {
  return { element: raw(`<script>${text}</script>`), source: `'sha256-${sha256(text, "base64")}'` };
}
