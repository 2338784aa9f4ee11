/**
 * Recorded answers of PostgREST 12, replayed against our server. Where ours differs on purpose, the table below names the vector and the
 * reason; an unlisted difference fails, and so does an entry that no longer differs.
 */
import { readFile } from "node:fs/promises";
import { UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createTestDatabase } from "../../../helpers/database.ts";
import { signToken, startTestGateway } from "../harness.ts";

const vectorFile = z.object({
  tokens: z.record(
    z.string(),
    z.object({
      claims: z.record(z.string(), z.unknown()).optional(),
      signedWith: z.string().optional(),
      alg: z.string().optional(),
      literal: z.string().optional(),
    }),
  ),
  vectors: z.array(
    z.object({
      name: z.string(),
      request: z.object({
        method: z.string(),
        path: z.string(),
        auth: z.string().nullable(),
        headers: z.record(z.string(), z.string()),
        body: z.string().nullable(),
      }),
      response: z.object({ status: z.number(), headers: z.record(z.string(), z.string()), body: z.unknown() }),
    }),
  ),
});

interface Difference {
  readonly why: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** All our deliberate differences, with the reason for each. */
const differences: Readonly<Record<string, Difference>> = {
  "update as ann": {
    why: "Relations are for reading: every change goes through a function, which checks who may and records it.",
    status: 405,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: expect.objectContaining({ code: "PGRST117" }),
  },
};

const folder = new URL("./", import.meta.url);
const file = vectorFile.parse(JSON.parse(await readFile(new URL("postgrest-vectors.json", folder), "utf8")));
const db = await createTestDatabase({ version: 15 });
await db.superuser.pool.query(await readFile(new URL("postgrest-fixture.sql", folder), "utf8"));
const gateway = await startTestGateway(db, {
  database: { preRequest: { schema: "public", name: "vec_pre_request" } },
});
const tokens = new Map<string, string>();

beforeAll(async () => {
  for (const [name, { claims = {}, signedWith, alg, literal }] of Object.entries(file.tokens)) {
    const made = alg === "none" ? new UnsecuredJWT(claims).encode() : await signToken(claims, signedWith);
    tokens.set(name, literal ?? made);
  }
});

async function replay({ method, path, auth, headers, body }: (typeof file.vectors)[number]["request"]) {
  const token = auth === null ? undefined : tokens.get(auth);
  const response = await fetch(`${gateway.url}/rest/v1${path}`, {
    method,
    body,
    // PostgREST is deployed behind a gateway that requires a key; ours is that gateway too.
    headers: {
      apikey: gateway.keys.anonKey,
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  const text = await response.text();
  return { response, body: text === "" ? null : (JSON.parse(text) as unknown) };
}

describe("PostgREST's recorded answers", () => {
  for (const vector of file.vectors) {
    it(`are ours too: ${vector.name}`, async () => {
      const expected = differences[vector.name] ?? vector.response;
      const { response, body } = await replay(vector.request);
      const headers = Object.keys(expected.headers).map((name) => [name, response.headers.get(name)] as const);
      expect({ status: response.status, headers: Object.fromEntries(headers), body }).toEqual({
        status: expected.status,
        headers: expected.headers,
        body: expected.body,
      });
    });
  }

  it("know every difference that we name", () => {
    const names = new Set(file.vectors.map((vector) => vector.name));
    for (const [name, { status }] of Object.entries(differences)) {
      expect(names).toContain(name);
      expect(file.vectors.find((vector) => vector.name === name)?.response.status).not.toBe(status);
    }
  });
});
