/**
 * House style as a test: rules that the compiler, the linter and the formatter cannot check.
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
import { folderRules } from "./tidy/folder-rules.ts";
import { wordRules } from "./tidy/word-rules.ts";

const repository = readRepository(new URL("..", import.meta.url));
const rules = [importRules, layerRules, hookRules, sourceRules, sqlRules, documentRules, folderRules, wordRules];
const complaints = rules.flatMap((rule) => rule(repository));
for (const { path, line, text } of complaints) console.error(`${path}${line === undefined ? "" : `:${line}`}  ${text}`);
if (complaints.length > 0) {
  console.error(`\n${complaints.length} to fix.`);
  process.exitCode = 1;
} else {
  console.log(`Tidy: ${repository.files.length} files.`);
}
