/**
 * Secrets that the database uses and never shows: setting, listing and removing them, and the key that seals them.
 *
 * Thin wrappers over the schema `headroom`. Does not own: what a secret is used for.
 */
export { listSecrets, removeSecret, setSecret, type SecretStatus } from "./secrets.ts";
export { rotateSecretKey, type Resealed, type RotateOptions, type Sealed } from "./rotate-key.ts";
