/** Null if it is not a URL. `URL.parse` does the same, from Node 22 on; the library also runs on 20. */
export function parseUrl(text: string, base?: string): URL | null {
  return URL.canParse(text, base) ? new URL(text, base) : null;
}
