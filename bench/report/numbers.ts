/** Numbers as people read them. */

export function formatValue(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "–";
  if (unit === "ms") return value.toFixed(2);
  if (unit === "MB") return value.toFixed(0);
  return Math.round(value).toLocaleString("en-US");
}

/** 12,345 as 12.3k: for labels on a plot. */
export function formatShort(value: number, unit: string): string {
  if (unit === "ms") return `${value.toFixed(2)} ms`;
  if (value >= 1_000_000) return `${(value / 1_000_000).toFixed(1)}M`;
  if (value >= 10_000) return `${(value / 1_000).toFixed(0)}k`;
  if (value >= 1_000) return `${(value / 1_000).toFixed(1)}k`;
  return String(Math.round(value));
}

export const formatRatio = (ratio: number | null): string => (ratio === null ? "–" : ratio.toFixed(3));
