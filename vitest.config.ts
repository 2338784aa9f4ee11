/**
 * Two groups of tests: beside the source, without I/O; and below test/, against real servers that are started once.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./test/helpers/slowest-first.ts";

// Relays, receivers and servers that tests start as processes load the same files each time. What Node has compiled once is kept for the
// next one, as bin/headroom.js keeps it.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");

/** What `npm run test:newest` leaves to `npm test`: the older servers, chaos, the browser, and what installs or starts servers of its own. */
const newest = {
  include: ["test/{integration,runtime}/**/*.test.ts"],
  exclude: [
    "test/integration/cli/{guides,installation}/**",
    "test/integration/db/{embedded,generate,migrate,supabase}*",
  ],
  env: { HEADROOM_TEST_VERSIONS: "newest" },
};
const everything = { include: ["test/**/*.test.ts"] };

export default defineConfig(({ mode }) => ({
  // "source" resolves the package's own name to its TypeScript, as in a checkout.
  resolve: { conditions: ["source", ...defaultServerConditions] },
  ssr: { resolve: { conditions: ["source", ...defaultServerConditions] } },
  test: {
    // Tests wait for servers, relays and receivers as much as they compute: twice as many workers as the machine that CI has cores.
    maxWorkers: 4,
    // A worker keeps what it has loaded: no test counts on a module that is fresh, and loading them again took as long as the tests.
    isolate: false,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    projects: [
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", "bench/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "integration",
          ...(mode === "newest" ? newest : everything),
          globalSetup: ["test/helpers/global-setup.ts"],
        },
      },
    ],
  },
}));
