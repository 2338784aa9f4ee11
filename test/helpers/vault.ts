/**
 * A stand-in for Supabase Vault, for databases without it: a view that decrypts with the reader's rights, and two functions that write.
 * The migrating role holds its rights with grant option, and has granted them as a migration does.
 */
import { readFile } from "node:fs/promises";
import type { ClientBase } from "pg";

const standIn = (owner: string): string => `
  create schema vault authorization ${owner};
  set local role ${owner};
  create table vault.secrets (id uuid primary key default gen_random_uuid(), name text unique, secret text not null,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now());
  create function vault._crypto_aead_det_decrypt(text) returns text language sql as 'select reverse($1)';
  create view vault.decrypted_secrets as
    select s.id, s.name, s.created_at, s.updated_at, vault._crypto_aead_det_decrypt(s.secret) as decrypted_secret from vault.secrets s;
  create function vault.create_secret(new_secret text, new_name text default null, new_description text default '') returns uuid
    language sql security definer as 'insert into vault.secrets (name, secret) values (new_name, reverse(new_secret)) returning id';
  create function vault.update_secret(secret_id uuid, new_secret text default null, new_name text default null, new_description text default null) returns void
    language sql security definer as 'update vault.secrets set secret = reverse(new_secret), name = coalesce(new_name, name) where id = secret_id';
  revoke all on all functions in schema vault from public;
  grant usage on schema vault to migrator with grant option;
  grant select on vault.decrypted_secrets to migrator with grant option;
  grant execute on all functions in schema vault to migrator with grant option;
  reset role;`;

/** Runs in the open transaction, as a superuser. */
export async function installVault(client: ClientBase, owner = "postgres"): Promise<void> {
  await client.query(standIn(owner));
  await client.query("set local role migrator");
  await client.query(await readFile(new URL("../../sql/grants/headroom/vault.sql", import.meta.url), "utf8"));
  await client.query("reset role");
}
