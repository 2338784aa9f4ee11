/**
 * TypeScript: who reads the environment, where SQL is allowed, how long a file may be, and that tests are real.
 */
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

const maxFileLines = 400;
const maxFunctionLines = 60;
const vagueNames = /(^|\/)(utils?|helpers?|manager|misc|common)\.ts$/;
/** Statements, not prose that happens to begin with such a word. */
const sqlString =
  /["'`]\s*(select\s.+\sfrom\s|insert\s+into\s|update\s+\w+(\.\w+)?\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\()/i;

/** Imports that can open an HTTP port; code that only calls others, or names a type, imports other things. */
const httpListener =
  /\b(createServer|createAdaptorServer|getRequestListener|serve)\b.*from "(node:https?|node:http2|@hono\/node-server)"/;

export function sourceRules(repository: Repository): Complaint[] {
  return repository
    .matching(/\.tsx?$/)
    .filter((file) => !file.path.endsWith(".gen.ts"))
    .flatMap((file) => [...eachLine(file), ...sizes(file), ...testTitles(file)]);
}

function eachLine(file: RepositoryFile): Complaint[] {
  const complaints: Complaint[] = [];
  const inProduct = file.path.startsWith("src/") && !file.path.endsWith(".test.ts");
  file.lines.forEach((text, index) => {
    const complain = (what: string): void => void complaints.push({ path: file.path, line: index + 1, text: what });
    if (inProduct && !file.path.startsWith("src/cli/") && /process\.env\b/.test(text))
      complain("only cli/ and deploy/ read the environment");
    if (inProduct && !/^src\/(db|cli|http\/rest)\//.test(file.path) && sqlString.test(text))
      complain("SQL belongs in sql/, behind a typed wrapper");
    if (inProduct && file.path !== "src/web/listener.ts" && httpListener.test(text))
      complain("ports that speak HTTP are opened by src/web/listener.ts");
    if (/\b(it|test|describe)\.(skip|only|todo)\b/.test(text)) complain("a test that does not run");
    if (/\b(TODO|FIXME)\b/.test(text) && !file.path.startsWith("scripts/tidy/")) complain("left for later");
  });
  if (inProduct && !/^(#!.*\n)?\/\*\*/.test(file.text))
    complaints.push({ path: file.path, line: 1, text: "a module begins by saying what it owns" });
  if (vagueNames.test(file.path)) complaints.push({ path: file.path, text: "a name that explains nothing" });
  if (!/^[a-z0-9.\-/[\]]+$/.test(file.path)) complaints.push({ path: file.path, text: "file names are kebab-case" });
  return complaints;
}

function sizes(file: RepositoryFile): Complaint[] {
  const complaints: Complaint[] = [];
  if (file.lines.length > maxFileLines) {
    complaints.push({
      path: file.path,
      text: `${file.lines.length} lines; is it one story? (at most ${maxFileLines})`,
    });
  }
  if (/\.test\.ts$|^(test|bench)\//.test(file.path)) return complaints;
  let start = 0;
  file.lines.forEach((text, index) => {
    if (/^(export )?(async )?function |^ {2}(static |async |get |#)*[#a-zA-Z]+(<.*>)?\(.*\{$/.test(text)) start = index;
    if (text !== "}" && text !== "  }") return;
    if (start > 0 && index - start > maxFunctionLines) {
      const length = index - start + 1;
      complaints.push({
        path: file.path,
        line: start + 1,
        text: `a function of ${length} lines does not fit a screen`,
      });
    }
    start = 0;
  });
  return complaints;
}

/** Two tests with the same name in one file cannot be distinguished in a report. */
function testTitles(file: RepositoryFile): Complaint[] {
  if (!file.path.endsWith(".test.ts")) return [];
  const seen = new Set<string>();
  return file.lines.flatMap((text, index) => {
    const title = /^\s*(?:it|test)\(\s*"([^"]+)"/.exec(text)?.[1];
    if (title === undefined) return [];
    if (seen.has(title)) return [{ path: file.path, line: index + 1, text: `the test title "${title}" stands twice` }];
    seen.add(title);
    return [];
  });
}
