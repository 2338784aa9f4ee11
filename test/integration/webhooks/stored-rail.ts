/** The webhook rail over the endpoints of a test's database, for tests and for processes that they start. */
import { createPool } from "../../../src/db/connect.ts";
import { createWebhookRail, type WebhookRail, type WebhookRailOptions } from "../../../src/rails/webhook/rail.ts";
import { createStoredEndpoints } from "../../../src/rails/webhook/stored-endpoints.ts";
import { loopbackRules } from "../rails/webhook/webhook-harness.ts";

export const secretKey = "the key of these tests, which has more than 32 bytes";

/** Caches nothing, so that a change is seen immediately. */
export function storedRail(
  url: string,
  options: Partial<WebhookRailOptions> = {},
): { readonly rail: WebhookRail; close(): Promise<void> } {
  const pool = createPool(url, { applicationName: "endpoints of a test", maxConnections: 2 });
  const stored = createStoredEndpoints({ pool, secretKey, rememberMs: 0 });
  const rail = createWebhookRail({
    ...loopbackRules,
    endpoint: (message) => stored.find(message),
    gone: (endpoint) => stored.gone(endpoint),
    ...options,
  });
  return {
    rail,
    async close() {
      rail.close();
      await pool.end();
    },
  };
}
