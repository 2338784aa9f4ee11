/**
 * Visitors of the self-service wizard, who call the database as anonymous users.
 *
 * Owns: what they fill in. Does not own: what is asserted of the answers.
 */
import { expect } from "vitest";
import { anonymous, overHttp } from "../capacity/gateway.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { testSecretKey } from "../http/harness.ts";
import type { Wizard } from "./wizard.ts";

export interface Draft {
  readonly token: string;
  readonly kind: string;
  readonly revision: number;
  readonly step: number;
  readonly terms: Readonly<Record<string, unknown>>;
  readonly offer?: { readonly amount: number; readonly currency: string } | null;
  readonly routing?: { readonly reviews: readonly string[]; readonly problem?: string };
  readonly request?: { readonly id: string; readonly state: string; readonly link: string | null };
}
export interface Saved {
  readonly outcome: "saved" | "invalid" | "stale";
  readonly problems: Readonly<Record<string, string>>;
  readonly draft: Draft;
}

export const what = { size: "S", region: "us-east-1", quantity: "2" };
export const when = { needed_by: "", duration_days: "30" };
let people = 0;
export const newAddress = (): string => `somebody${(people += 1)}@initech.example`;

export function visitorsOf({ workflow: { db } }: Wizard) {
  /** Calls the API anonymously: from a network that our gateway saw or, as over PostgREST, from an unknown one. */
  let network = "";
  const from = async <T>(where: string, work: () => Promise<T>): Promise<T> => {
    network = where;
    try {
      return await work();
    } finally {
      network = "";
    }
  };
  const ask = <T>(text: string, values: unknown[]): Promise<T> => {
    const settings = [testSecretKey, network];
    return overHttp(db, anonymous, async (client) => {
      const set = "select set_config('headroom.secret_key', $1, true), set_config('headroom.client_network', $2, true)";
      await rowsOf(client, set, settings);
      return (await oneOf<{ answer: T }>(client, `select ${text} as answer`, values)).answer;
    });
  };
  const begin = () => ask<Draft>("public.begin_draft('acme')", []);
  const describeDraft = (token: string) => ask<Draft>("public.describe_draft('acme', $1)", [token]);
  const save = (token: string, step: number, revision: number, values: object) =>
    ask<Saved>("public.save_draft('acme', $1, $2, $3, $4)", [token, step, revision, JSON.stringify(values)]);
  const submit = (token: string, revision: number, seen: string | null) =>
    ask<{ request_id: string; state: string; link: string | null; checkout: { checkout_id: string } | null }>(
      "public.submit_draft('acme', $1, $2, $3)",
      [token, revision, seen],
    );
  const fillIn = async (email = newAddress(), capacity: object = what): Promise<string> => {
    const { token } = await begin();
    await save(token, 1, 0, capacity);
    await save(token, 2, 1, when);
    expect(await save(token, 3, 2, { name: "Bea", organisation: "", email })).toMatchObject({ outcome: "saved" });
    return token;
  };
  return { from, ask, begin, describeDraft, save, submit, fillIn };
}
