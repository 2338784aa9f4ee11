import { expect, test } from "vitest";
import { acceptedPermissions } from "./permissions.ts";

test.each([
  ["actions=write", "Actions: write"],
  ["actions=write,contents=read", "Actions: write and Contents: read"],
  [
    "repository_projects=write; organization_projects=admin",
    "Repository projects: write, or Organization projects: admin",
  ],
  ["metadata=read", "Metadata: read"],
  ["", ""],
  ["allows_permissionless_access=true", ""],
  ["actions=write,<script>", ""],
  ["x".repeat(100_000), ""],
  [undefined, ""],
])("GitHub's %j is told as %j", (header, words) => {
  expect(acceptedPermissions(header)).toBe(words);
});

test("however much GitHub lists, little is repeated", () => {
  const header = Array.from({ length: 100 }, () =>
    Array.from({ length: 3 }, () => "a".repeat(40) + "=write").join(","),
  ).join(";");
  expect(acceptedPermissions(header).length).toBeLessThan(500);
});
