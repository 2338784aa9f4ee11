/** A person with a browser: keeps cookies, follows no redirect automatically, and sends its origin. */

let visitors = 0;

export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  /** Each has a different address, so that none is rate-limited because of the others. */
  readonly #address = `198.51.100.${(visitors += 1) % 250}`;

  constructor(url: string) {
    this.#url = url;
  }

  async send(path: string, init: RequestInit, headers: Record<string, string> = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(new URL(path, this.#url), {
      redirect: "manual",
      ...init,
      headers: { accept: "text/html", cookie, "x-forwarded-for": this.#address, ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(path, {}, headers);
  }

  async json(path: string): Promise<Record<string, unknown>> {
    return (await (await this.get(path, { accept: "application/json" })).json()) as Record<string, unknown>;
  }

  post(path: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(
      path,
      { method: "POST", body: new URLSearchParams(form).toString() },
      { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...headers },
    );
  }
}

export function cookieIn(visitor: Visitor, name: string): string {
  return visitor.cookies.get(name) ?? "";
}
