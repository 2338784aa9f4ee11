/**
 * Cookies of our own, as text: their attributes, and finding one in a request.
 *
 * On https their names begin with __Host-: a browser then guarantees that no other host of the domain, and nobody on the network, set
 * them. On http, for trying Headroom out on one machine, there is no such guarantee.
 */

export interface CookieKind {
  readonly name: string;
  readonly set: (value: string, maxAgeSeconds: number) => string;
  readonly clear: () => string;
  readonly read: (request: Request) => string | undefined;
}

export function cookieKind(baseName: string, publicUrl: string): CookieKind {
  const secure = publicUrl.startsWith("https:");
  const name = secure ? `__Host-${baseName}` : baseName;
  const set = (value: string, maxAgeSeconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return { name, set, clear: () => set("", 0), read: (request) => readCookie(request, name) };
}

/** A name that occurs twice is ignored, because it cannot be known which one is ours. */
function readCookie(request: Request, name: string): string | undefined {
  const found = (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  const value = found[0]?.slice(name.length + 1);
  return found.length === 1 && value !== "" ? value : undefined;
}
