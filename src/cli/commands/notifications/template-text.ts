/**
 * The text of a template as given to a command: its title and body, or a file (`-`: standard input) with the title in the first line, an
 * empty line, and the body. Our own files have this form, and `templates show --text` prints it.
 */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { HeadroomError } from "../../../db/errors.ts";

export interface TextOptions {
  readonly title?: string;
  readonly body?: string;
  readonly file?: string;
}

export function addText(command: Command): Command {
  return command
    .option("--title <text>", "the title, on one line")
    .option("--body <text>", "the body")
    .option("--file <path>", "a file with the title, an empty line, and the body; - reads what is piped in");
}

export async function readText({ title, body, file }: TextOptions): Promise<Omit<TextOptions, "file">> {
  if (file === undefined) return { ...(title !== undefined && { title }), ...(body !== undefined && { body }) };
  if (title !== undefined || body !== undefined) {
    throw new HeadroomError("usage", "--file has both the title and the body.", {
      hint: "Leave out --title and --body, or --file. Nothing was changed.",
    });
  }
  const [first = "", empty, ...rest] = (await read(file)).replaceAll("\r\n", "\n").split("\n");
  if (empty?.trim() === "" && rest.some((line) => line.trim() !== "")) return { title: first, body: rest.join("\n") };
  throw new HeadroomError("usage", "The file does not have a title, an empty line and a body.", {
    hint: "headroom notifications templates show <name> --text prints one that does. Nothing was changed.",
  });
}

async function read(path: string): Promise<string> {
  if (path === "-") return text(process.stdin);
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new HeadroomError("usage", `The file ${path} cannot be read.`, { hint: "Nothing was changed.", cause });
  });
}
