/** A session of the database server in words, and how to end it. */
export interface Session {
  readonly pid: number;
  readonly login?: string | null | undefined;
  readonly application?: string | null | undefined;
}

export function sessionWords({ pid, login, application }: Session): string {
  const facts = [
    ...(login == null ? [] : [`login ${login}`]),
    ...(application == null ? [] : [`application "${application}"`]),
  ];
  return `Session ${pid}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

export function endSession(pid: number): string {
  return `select pg_terminate_backend(${pid})`;
}
