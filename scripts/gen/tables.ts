/** Tables in Markdown. */

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}
