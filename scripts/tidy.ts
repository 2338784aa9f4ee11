/**
 * House style as a test: what neither the compiler, the linter nor the formatter can see.
 *
 *     npm run tidy
 *
 * Each rule is a function from the repository to complaints; see scripts/tidy/.
 */
import { readRepository } from "./tidy/repository.ts";
import { importRules } from "./tidy/import-rules.ts";
import { hookRules } from "./tidy/hook-rules.ts";
import { layerRules } from "./tidy/layer-rules.ts";
import { sourceRules } from "./tidy/source-rules.ts";
import { sqlRules } from "./tidy/sql-rules.ts";
import { documentRules } from "./tidy/document-rules.ts";

const repository = readRepository(new URL("..", import.meta.url));
const complaints = [importRules, layerRules, hookRules, sourceRules, sqlRules, documentRules].flatMap((rules) =>
  rules(repository),
);
for (const { path, line, text } of complaints) console.error(`${path}${line === undefined ? "" : `:${line}`}  ${text}`);
if (complaints.length > 0) {
  console.error(`\n${complaints.length} to fix.`);
  process.exitCode = 1;
} else {
  console.log(`Tidy: ${repository.files.length} files.`);
}
