/** The files that git tracks or would add, with their text. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface RepositoryFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
}

export interface Repository {
  readonly root: URL;
  readonly files: readonly RepositoryFile[];
  /** Files whose path matches. */
  matching(pattern: RegExp): readonly RepositoryFile[];
}

export interface Complaint {
  readonly path: string;
  readonly line?: number;
  readonly text: string;
}

const textual = /\.(ts|tsx|js|mjs|sql|md|json|ya?ml|sh|css|html)$|^\.ci\/run$/;

export function readRepository(root: URL): Repository {
  const cwd = fileURLToPath(root);
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd,
    encoding: "utf8",
  });
  const files = listed
    .split("\n")
    .filter((path) => textual.test(path) && path !== "package-lock.json" && existsSync(new URL(path, root)))
    .map((path): RepositoryFile => {
      const text = readFileSync(new URL(path, root), "utf8");
      return { path, text, lines: text.split("\n") };
    });
  return { root, files, matching: (pattern) => files.filter((file) => pattern.test(file.path)) };
}
