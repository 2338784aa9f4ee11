/** What the database knows of our rails before any relay has registered them equals what the rails declare. */
import { expect, test } from "vitest";
import { createProviderRails } from "../../../src/cli/relay/provider-rails.ts";
import { createTestDatabase } from "../../helpers/database.ts";

const db = await createTestDatabase();

test("rails that rows may name from the start are registered with their own capability and time-out", async () => {
  const { rows } = await db.superuser.pool.query<{ name: string; capability: string; timeout_ms: number }>(
    "select name, capability, timeout_ms from outbox.rails order by name",
  );
  const rails = createProviderRails(() => Promise.reject(new Error("nothing is read here")), {
    SLACK_BOT_TOKEN: "xoxb-1-2-3",
    LINEAR_API_KEY: "lin_api_123",
    POSTAL_URL: "https://postal.example",
    POSTAL_API_KEY: "postal-key",
    MAIL_FROM: "Headroom <capacity@headroom.example>",
    GITHUB_TOKEN: "github_pat_1",
    STRIPE_SECRET_KEY: "sk_test_123456",
  });
  const ours = rails.map(({ name, capability, timeoutMs: timeout_ms }) => ({ name, capability, timeout_ms }));
  const registered = rows.filter(({ name }) => ours.some((rail) => rail.name === name));
  expect(registered).toEqual(ours.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
});
