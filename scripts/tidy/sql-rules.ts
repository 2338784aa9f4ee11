/**
 * SQL: one function per file, named after it, commented, with a pinned search_path and its volatility stated; only policies
 * know the reader; and nothing waits for a lock that any login can take.
 */
import { basename } from "node:path";
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

const maxLineChars = 140;
const maxFunctionLines = 120;
const maxParameters = 8;
/** The engine's claim and its row writer: one statement each, and measured. A smaller version has to be measured against them. */
const measured =
  /^outbox\.(claim|claim_queues|claim_special_lanes|add_rows?|check_row|enqueue|enqueue_pair|why_not_enqueued)$/;
/** Functions that other roles call are called with named arguments, over HTTP and in SQL, so many parameters are readable. */
const calledByOthers = /^(public\..*|outbox\.create_stream)$/;
/** One-expression functions that the planner inlines; a SET clause would prevent that, and they use only qualified names. */
const inlined = new Set(["outbox.new_id", "outbox.partition_floor", "outbox.id_time"]);

/** The functions that may name the reader: those that define the reader, and those that write policies. */
const namesReader =
  /^sql\/functions\/(directory\/caller\/((resolve_|forget_)?reader(_[a-z]+)*|protect_tables)|notify\/inbox\/connect_realtime)\.sql$/;

export function sqlRules(repository: Repository): Complaint[] {
  return repository
    .matching(/^sql\/(?!schema\.sql).*\.sql$/)
    .flatMap((file) => [
      ...widths(file),
      ...(file.path.startsWith("sql/functions/")
        ? [...functionRules(file), ...readerRules(file), ...lockRules(file)]
        : []),
    ]);
}

/** The reader is looked up once per transaction, so it may be out of date; decisions call directory.caller() instead. */
function readerRules(file: RepositoryFile): Complaint[] {
  if (namesReader.test(file.path)) return [];
  return file.lines.flatMap((text, index) =>
    /\bdirectory\.(resolve_)?reader(_[a-z]+)?\(|'headroom\.reader/.test(text) && !/^\s*--/.test(text)
      ? [{ path: file.path, line: index + 1, text: "asks for the reader, which is only for policies and views" }]
      : [],
  );
}

/**
 * Any login can take an advisory lock, and can lock the view pg_settings, which everybody may update; so any login could block a function
 * that waits for or tries such a lock. Only the owner can lock the rows of headroom.turns, and current_setting() locks nothing.
 */
function lockRules(file: RepositoryFile): Complaint[] {
  return file.lines.flatMap((text, index) => {
    const found = /\bpg_(?:try_)?advisory_|\bpg_settings\b/.exec(text);
    if (found === null) return [];
    const [what, instead] = found[0].endsWith("settings")
      ? ["reads pg_settings", "current_setting()"]
      : ["uses an advisory lock", "headroom.take_turn"];
    return [{ path: file.path, line: index + 1, text: `${what}, which any login can lock: see ${instead}` }];
  });
}

function widths(file: RepositoryFile): Complaint[] {
  const complaints = file.lines.flatMap((text, index) =>
    text.length > maxLineChars
      ? [{ path: file.path, line: index + 1, text: `${text.length} characters wide (at most ${maxLineChars})` }]
      : [],
  );
  if (!file.text.startsWith("-- "))
    complaints.push({ path: file.path, line: 1, text: "begins with a comment that says what and why" });
  return complaints;
}

function functionRules(file: RepositoryFile): Complaint[] {
  const complain = (text: string): Complaint => ({ path: file.path, text });
  // A function may have a body for each server version; it is still one function.
  const found = file.text.matchAll(/^\s*create or replace (?:function|procedure) ([a-z_]+\.[a-z_0-9]+)/gm);
  const made = [...new Set([...found].map((match) => match[1] ?? ""))];
  const expected = `${file.path.split("/")[2] ?? ""}.${basename(file.path, ".sql")}`;
  const complaints: Complaint[] = [];
  if (made.length !== 1) complaints.push(complain(`one function per file, not ${made.length}`));
  if (made[0] !== expected) complaints.push(complain(`makes ${made[0] ?? "nothing"}, its name says ${expected}`));
  if (!/^comment on (function|procedure) /m.test(file.text)) complaints.push(complain("the function has no comment"));
  if (!inlined.has(expected) && !/set search_path = pg_catalog, pg_temp\b/.test(file.text))
    complaints.push(complain("search_path is not pinned"));
  const bodyLines =
    file.lines.lastIndexOf("$$;") - file.lines.findIndex((text) => text.startsWith("create or replace ")) + 1;
  if (bodyLines > maxFunctionLines && !measured.test(expected))
    complaints.push(complain(`${bodyLines} lines; a function has at most ${maxFunctionLines}`));
  const parameters =
    /^create or replace (?:function|procedure) [^(]+\(([^]*?)\)\s*(?:returns|language|as)\b/m.exec(file.text)?.[1] ??
    "";
  const count = parameters.match(/\bp_\w+ /g)?.length ?? 0;
  if (count > maxParameters && !measured.test(expected) && !calledByOthers.test(expected))
    complaints.push(complain(`${count} parameters (at most ${maxParameters}): pass a composite row`));
  if (!/\b(volatile|stable|immutable)\b/.test(file.text) && !/returns trigger/.test(file.text))
    complaints.push(complain("volatility is not stated"));
  return complaints;
}
