/**
 * Who the embedded server runs as. Postgres refuses to run as root, so root hands it to the system user `postgres`.
 *
 * Owns: finding or creating that user, and checking what that user may reach. A check runs in a child process
 * with the ids that the server will have and without supplementary groups, because mode bits miss ACLs, mount options
 * and security modules.
 */
import { execFile, spawnSync } from "node:child_process";
import { lstat, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { HeadroomError } from "../errors.ts";

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** The user that the server's processes get; undefined means our own user. */
export type RunAs = (UserIds & { readonly name: string }) | undefined;

const userName = "postgres";

/** The environment of the server and its tools. It takes nothing from ours, so it holds no secret. */
export const serverEnvironment: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
};

/** Chooses the user to run as: our own, or when we are root the system user `postgres`, created if missing. */
export function chooseRunAs(): RunAs {
  if (typeof process.getuid !== "function") {
    throw new HeadroomError("embedded_unsupported", "The embedded Postgres runs on Linux and macOS only.", {
      hint: "Set DATABASE_URL to a Postgres server (15 or later) instead.",
    });
  }
  if (process.getuid() !== 0) return undefined;
  const user = findUser() ?? createUser();
  if (user !== undefined) return user;
  throw new HeadroomError(
    "embedded_user_missing",
    "Postgres refuses to run as root, and no system user could be made.",
    {
      detail: `Neither useradd nor adduser made a user named ${userName}.`,
      hint: `Create it (useradd --system ${userName}), run as an ordinary user, or set DATABASE_URL to a server.`,
    },
  );
}

function findUser(): RunAs {
  const uid = numberFrom("id", ["-u", userName]);
  const gid = numberFrom("id", ["-g", userName]);
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { name: userName, uid, gid };
}

function createUser(): RunAs {
  // The first is of the shadow tools (Debian, Fedora, …), the second of busybox (Alpine).
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ["useradd", ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", userName]],
    ["adduser", ["-S", "-D", "-H", userName]],
  ];
  for (const [command, parameters] of ways) {
    spawnSync(command, parameters, { stdio: "ignore", timeout: 10_000 });
    // Asked even after a failure: another process may have created the user at the same moment.
    const user = findUser();
    if (user !== undefined) return user;
  }
  return undefined;
}

function numberFrom(command: string, parameters: readonly string[]): number | undefined {
  const result = spawnSync(command, parameters, { encoding: "utf8", timeout: 10_000 });
  if (result.status !== 0) return undefined;
  const value = Number(result.stdout.trim());
  return Number.isInteger(value) ? value : undefined;
}

/** What `spawn` needs to run something as the chosen user. */
export function spawnIdentity(runAs: UserIds | undefined): {
  uid?: number;
  gid?: number;
  cwd: string;
  env: Record<string, string>;
} {
  const common = { cwd: "/", env: { ...serverEnvironment } };
  return runAs === undefined ? common : { ...common, uid: runAs.uid, gid: runAs.gid };
}

/** True when the command, run as the chosen user, ends with status 0. */
export function succeedsAs(runAs: UserIds | undefined, command: string, parameters: readonly string[]): boolean {
  const result = spawnSync(command, parameters, { ...spawnIdentity(runAs), stdio: "ignore", timeout: 30_000 });
  return result.status === 0;
}

/** True when the chosen user can enter the folder. */
export function canEnter(runAs: RunAs, folder: string): boolean {
  return succeedsAs(runAs, "/bin/sh", ["-c", 'cd -- "$1"', "sh", folder]);
}

/** The owner of the folder if we are root, who works there as that user. Otherwise undefined. */
export async function ownerOf(folder: string): Promise<UserIds | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await lstat(folder);
  return { uid, gid };
}

const maxTextBytes = 65_536;

/** Undefined if that user cannot read it. Only the beginning of a long file: a name may lead to an endless device. */
export async function readAs(user: UserIds | undefined, path: string): Promise<string | undefined> {
  try {
    if (user === undefined) return await readFile(path, "utf8");
    return await shellAs(user, 'exec head -c "$2" -- "$1"', [path, String(maxTextBytes)]);
  } catch {
    return undefined;
  }
}

/** Runs a line of shell as that user, with the words as $1, $2 and so on, and returns its output. */
export async function shellAs(user: UserIds | undefined, script: string, words: readonly string[]): Promise<string> {
  const options = { ...spawnIdentity(user), timeout: 10_000, maxBuffer: 2 * maxTextBytes };
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", script, "sh", ...words], options);
  return stdout;
}
