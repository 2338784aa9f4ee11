-- What only one transaction may do at a time, where no row of its own stands for it. A row here is locked meanwhile. Advisory locks would
-- do as well, if not any login could take them: whoever can connect knows or guesses their keys, and pg_locks shows them.
create table headroom.turns (
  name text primary key,
  made_at timestamptz not null default now()
);
comment on table headroom.turns
  is 'Turns that are taken by locking a row, until the end of the transaction. Made on demand; those of single persons, customers and '
     'workspaces have a colon in their name, and are forgotten after a day.';
