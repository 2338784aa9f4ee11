/**
 * Requests to /rest/v1: the two headers of a caller, and telling a refusal of the workflow from a failure.
 */
import { z } from "zod";
import type { Refused } from "../db/refusal.ts";
import { HeadroomError } from "../db/errors.ts";
import type { RefusalCode } from "../db/refusals.gen.ts";

export interface ClientOptions {
  /** Where the server is, without /rest/v1. */
  readonly url: string;
  /** The anon key, or a service's. */
  readonly key: string;
  /** A member's token, or a function that returns the current one. If left out, the key acts. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

type Parse<T> = (answer: unknown) => T;

export interface Transport {
  readonly rpc: <T>(name: string, body: Readonly<Record<string, unknown>>, parse: Parse<T>) => Promise<T | Refused>;
  readonly select: (view: string, query: URLSearchParams) => Promise<unknown>;
  readonly headers: () => Promise<Record<string, string>>;
}

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.string().nullish(),
  hint: z.string().nullish(),
});

export function createTransport(options: ClientOptions): Transport {
  const { fetch = globalThis.fetch } = options;
  const base = `${options.url.replace(/\/+$/, "")}/rest/v1`;
  const headers = async (): Promise<Record<string, string>> => {
    const token = typeof options.token === "function" ? await options.token() : options.token;
    return { apikey: options.key, authorization: `Bearer ${token ?? options.key}` };
  };
  return {
    headers,
    async rpc(name, body, parse) {
      const response = await fetch(`${base}/rpc/${name}`, {
        method: "POST",
        headers: { ...(await headers()), "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify(body),
      });
      if (response.ok) return parse(await response.json());
      return refusalOf(response.status, await readError(response));
    },
    async select(view, query) {
      const response = await fetch(`${base}/${view}?${query.toString()}`, { headers: await headers() });
      if (response.ok) return response.json();
      const { code, message, hint } = await readError(response);
      throw new HeadroomError(code, message, { hint: hint ?? undefined, httpStatus: response.status });
    },
  };
}

async function readError(response: Response): Promise<z.infer<typeof errorSchema>> {
  const text = await response.text();
  try {
    return errorSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new HeadroomError("unexpected_answer", `The server answered ${response.status} in an unknown format.`, {
      httpStatus: response.status,
      cause,
    });
  }
}

/** A refusal names its code before its facts (`stale_version: version 3, expected 2`); an error that is not a refusal is thrown. */
function refusalOf(status: number, error: z.infer<typeof errorSchema>): Refused {
  const [, code, detail] = /^([a-z_]+)(?:: (.+))?$/s.exec(error.details ?? "") ?? [];
  const hint = error.hint ?? undefined;
  if (!error.code.startsWith("PT") || code === undefined) {
    throw new HeadroomError(error.code, error.message, { hint, httpStatus: status });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- headroom.fail() has exactly these codes
  return { outcome: "refused", code: code as RefusalCode, message: error.message, detail, hint, httpStatus: status };
}
