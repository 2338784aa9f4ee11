-- Secrets that leave the database do so through functions that note it here. As many rows as there are logins that may call those, and
-- names that they may ask for.
create table headroom.handed_out (
  login name not null,
  name text not null check (length(name) between 1 and 200),
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  times bigint not null default 1,
  primary key (login, name)
);
comment on table headroom.handed_out is 'Which login was given which secret, when first and last, and how many times.';
