/**
 * Two groups of tests: beside the source, without I/O; and below test/, against real servers that are started once.
 */
import { globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import type { InlineConfig } from "vitest/node";
import { SlowestFirst } from "./test/helpers/slowest-first.ts";

// Relays, receivers and servers that tests start as processes load the same files each time. What Node has compiled once is kept for the
// next one, as bin/headroom.js keeps it.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");

const isTest = (path: string): boolean => path.endsWith(".test.ts");
/** Those that run on whichever versions they are told, and those that leave a part to the second tier. */
const isInBothTiers = (path: string): boolean =>
  /POSTGRES_VERSIONS|ofTier|testSubject/.test(readFileSync(path, "utf8"));

/** The modes of `npm test` and of what is beside it; CONTRIBUTING.md says what each is for. */
const modes: Readonly<Record<string, () => Partial<InlineConfig>>> = {
  /** Everything on the newest server, and on the older ones what takes `everyVersion`. */
  test: () => ({ include: ["test/**/*.test.ts"] }),
  /** The rest: on the older servers what depends on the version, and the chaos that `npm test` left out. */
  older: () => ({
    include: globSync("test/**", { exclude: (path) => path.endsWith("node_modules") })
      .filter(isTest)
      .filter(isInBothTiers),
    env: { HEADROOM_TEST_VERSIONS: "older" },
  }),
  /** For while one works: no chaos, no browser, nothing that installs or starts servers of its own. */
  newest: () => ({
    include: ["test/{integration,runtime}/**/*.test.ts"],
    exclude: [
      "test/integration/cli/{guides,installation}/**",
      "test/integration/db/{embedded/**,migrate/**,generate*}",
    ],
    env: { HEADROOM_TEST_VERSIONS: "newest" },
  }),
};

const unit = { extends: true as const, test: { name: "unit", include: ["src/**/*.test.ts", "bench/**/*.test.ts"] } };

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
      ...(mode === "older" ? [] : [unit]),
      {
        extends: true,
        test: {
          name: "integration",
          ...modes[mode]?.(),
          globalSetup: ["test/helpers/global-setup.ts"],
          setupFiles: ["test/helpers/late-rejections.ts"],
        },
      },
    ],
  },
}));
