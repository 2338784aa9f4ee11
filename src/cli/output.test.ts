import { describe, expect, test } from "vitest";
import { formatError, formatTable, startProgress, visible, type Column, type ProgressSurface } from "./output.ts";

interface Row {
  readonly name: string;
  readonly count: number | null;
}

const columns: readonly Column<Row>[] = [
  { title: "NAME", value: (row) => row.name },
  { title: "COUNT", value: (row) => row.count, align: "right" },
];

describe("a table", () => {
  test("aligns its columns and shows what is missing as a dash", () => {
    const rows = [
      { name: "payments", count: 12 },
      { name: "x", count: null },
    ];
    expect(formatTable(rows, columns)).toEqual(["NAME      COUNT", "payments     12", "x             -"]);
  });

  test("is cut at the widest column to fit the terminal", () => {
    const lines = formatTable([{ name: "a very long name indeed", count: 1 }], columns, 20);
    expect(lines).toEqual(["NAME           COUNT", "a very long …      1"]);
  });

  test("never gets narrower than its titles", () => {
    expect(formatTable([{ name: "abcdefgh", count: 1 }], columns, 3)).toEqual(["NAME  COUNT", "abc…      1"]);
  });

  test("counts wide characters as two columns and marks as none", () => {
    const names = ["日本", "e\u0301", "👩‍💻", "🇯🇵", "❤️", "한글"];
    expect(
      formatTable(
        names.map((name) => ({ name, count: 1 })),
        columns,
      ),
    ).toEqual([
      "NAME  COUNT",
      "日本      1",
      "e\u0301         1",
      "👩‍💻        1",
      "🇯🇵        1",
      "❤️        1",
      "한글      1",
    ]);
  });

  test("is never cut within a character", () => {
    const lines = formatTable(
      ["𠮷野家の牛丼", "👩‍💻👩‍💻👩‍💻👩‍💻", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301"].map((name) => ({
        name,
        count: 1,
      })),
      columns,
      13,
    );
    expect(lines).toEqual([
      "NAME    COUNT",
      "𠮷野…       1",
      "👩‍💻👩‍💻…       1",
      "e\u0301e\u0301e\u0301e\u0301e\u0301…      1",
    ]);
  });

  test("without rows is its heading", () => {
    expect(formatTable([], columns)).toEqual(["NAME  COUNT"]);
  });
});

test("control characters from the outside are shown, not obeyed", () => {
  expect(visible("a\u001b[2Jb\nc\td")).toBe("a\\u001b[2Jb\\nc\\td");
  expect(visible("abc\u202egpj")).toBe("abc\\u202egpj");
});

test("a failure reads as message, detail and hint", () => {
  expect(formatError({ message: "It broke.", detail: "one\ntwo", hint: "Fix it." })).toBe(
    "error: It broke.\n  one\n  two\n  hint: Fix it.",
  );
});

function fakeSurface(isTTY: boolean): ProgressSurface & { written: string; atMs: number } {
  return {
    isTTY,
    columns: 39,
    written: "",
    atMs: 0,
    write(text) {
      this.written += text;
    },
    nowMs() {
      return this.atMs;
    },
  };
}

describe("progress", () => {
  test("is a bar that redraws itself on a terminal, and is wiped at the end", () => {
    const surface = fakeSurface(true);
    const progress = startProgress("Work", surface);
    progress.update(1, 2);
    expect(surface.written).toBe("\r\u001b[KWork [##########..........] 1/2  50 %");
    progress.update(2, 2);
    progress.finish();
    expect(surface.written).toBe("\r\u001b[KWork [##########..........] 1/2  50 %\r\u001b[K");
  });

  test("is silent elsewhere for two seconds, then says a line", () => {
    const surface = fakeSurface(false);
    const progress = startProgress("Work", surface);
    progress.update(1, 4);
    expect(surface.written).toBe("");
    surface.atMs = 2500;
    progress.update(2, 4);
    progress.update(3, 4);
    progress.finish();
    expect(surface.written).toBe("Work 2/4  50 %\n");
  });

  test("without a known total shows the count", () => {
    const surface = fakeSurface(true);
    startProgress("Work", surface).update(7);
    expect(surface.written).toBe("\r\u001b[KWork 7");
  });
});
