/** The description of the API: complete, correct, and readable for people. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts";
import { createTestDatabase } from "../../helpers/database.ts";
import { startTestGateway } from "./harness.ts";

const db = await createTestDatabase();
await db.superuser.pool.query(`
  create function public.hostile(p_x text default '<script>alert(1)</script>') returns text language sql stable as 'select p_x';
  comment on function public.hostile(text) is '<script>alert("comment")</script>';
  grant execute on function public.hostile(text) to anon;
`);
const gateway = await startTestGateway(db);
const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApiDocument;
const page = await fetch(`${gateway.url}/docs`);
const html = await page.text();

describe("/openapi.json", () => {
  it("has every route of the application", () => {
    const described = new Set(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    );
    const own = gateway.app.routes
      .filter((route) => route.errors !== "postgrest")
      .flatMap((route) => route.methods.map((method) => `${method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}`));
    expect(own.filter((name) => !described.has(name))).toEqual([]);
  });

  it("has the functions that some role may call, with their comments, and no others", async () => {
    const { rows } = await db.superuser.pool.query<{ name: string; comment: string | null }>(
      `select distinct on (p.proname) p.proname as name, obj_description(p.oid) as comment from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
          and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute')
               or has_function_privilege('service_role', p.oid, 'execute')) order by p.proname, p.oid`,
    );
    const described = Object.entries(document.paths).flatMap(([path, { post }]) =>
      path.startsWith("/rest/v1/rpc/") && post !== undefined
        ? [{ name: path.slice("/rest/v1/rpc/".length), comment: post.summary }]
        : [],
    );
    expect(described.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
      rows.map(({ name, comment }) => ({ name, comment: comment ?? name })),
    );
  });

  it("has arguments, required ones, enums and results", () => {
    const operation = document.paths["/rest/v1/rpc/apply_capacity_event"]?.["post"];
    expect(operation).toMatchObject({
      requestBody: {
        content: {
          "application/json": {
            schema: {
              required: ["p_request_id", "p_event_type", "p_actor_type", "p_actor_id"],
              properties: { p_event_type: { enum: expect.arrayContaining(["COMMERCIAL_APPROVED"]) } },
            },
          },
        },
      },
      responses: {
        "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/capacity_requests" } } } },
      },
    });
    expect(document.paths["/rest/v1/rpc/get_capacity_request"]).toHaveProperty("get");
    expect(document.paths["/rest/v1/rpc/create_capacity_request"]).not.toHaveProperty("get");
  });

  it("is served where PostgREST has its own, for callers with a key", async () => {
    const ask = (headers: Record<string, string>) => fetch(`${gateway.url}/rest/v1/`, { headers });
    expect((await ask({})).status).toBe(401);
    expect(await (await ask({ apikey: gateway.keys.anonKey })).json()).toEqual(document);
  });

  it("refers to nothing that it does not have", () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? "");
    const schemas = Object.keys((document.components as { schemas: object }).schemas);
    expect(references.filter((name) => !schemas.includes(name))).toEqual([]);
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("/docs", () => {
  it("loads nothing from elsewhere and runs nothing", () => {
    expect(html).not.toMatch(/<script|<img|src=|@import|url\(|href="(?:https?:)?\/\//);
    const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(page.headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
  });

  it("shows text from the database as text", () => {
    expect(html).toContain("&lt;script&gt;alert(&quot;comment&quot;)&lt;/script&gt;");
  });

  it("works with screen readers, on phones and in dark mode", () => {
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('name="viewport"');
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).toContain("<main");
    const targets = [...html.matchAll(/href="#([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(targets.filter((target) => !html.includes(`id="${target}"`))).toEqual([]);
  });
});
