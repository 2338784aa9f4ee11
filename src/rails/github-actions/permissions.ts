/**
 * The permissions that a call needs according to GitHub, named as on the page where a token gets them.
 *
 * Owns: reading the header; only known forms of it are repeated. Does not own: which calls need what.
 */

/** More than these would not help anybody. */
const maxSets = 3;
const maxInSet = 3;

const permission = /^([a-z_]{1,40})=(read|write|admin)$/;

/** `actions=write,contents=read; x=admin` is "Actions: write and Contents: read, or X: admin"; an empty text for anything else. */
export function acceptedPermissions(header: string | readonly string[] | undefined): string {
  const sets = (typeof header === "string" ? header : "").split(";").slice(0, maxSets).map(setOf);
  return sets.filter((set) => set !== "").join(", or ");
}

function setOf(text: string): string {
  const read = text.split(",").slice(0, maxInSet).map(permissionOf);
  // A permission that cannot be read makes the rest of its set misleading.
  return read.includes("") ? "" : read.join(" and ");
}

function permissionOf(text: string): string {
  const [, name = "", level = ""] = permission.exec(text.trim()) ?? [];
  return name === "" ? "" : `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}: ${level}`;
}
