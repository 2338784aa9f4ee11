/** Folders: a folder holds one subject. Past the limit it is probably two. */
import { posix } from "node:path";
import type { Complaint, Repository } from "./repository.ts";

const maxFiles = 25;
/** Folders whose files are an ordered list and not one subject: migrations, and decision records. */
const lists = /^(sql\/migrations|docs\/adr)$/;

export function folderRules(repository: Repository): Complaint[] {
  const counts = new Map<string, number>();
  for (const { path } of repository.files) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([folder, count]) => count > maxFiles && !lists.test(folder))
    .map(([path, count]) => ({ path, text: `${count} files; is it one subject? (at most ${maxFiles})` }));
}
