-- What an installation on Supabase, or beside other users of one server, runs into.

-- It is outbox.resolve_dead() now: Supabase's event trigger for pg_graphql acts on every new function named resolve, in any schema, and fails.
drop function if exists outbox.resolve(uuid, boolean, text, text, text);
