-- Each party with those who could speak for it: those who are here, and all of them. What lists and counts join instead of
-- asking for every request by itself.
create or replace view capacity.parties as
select c.workspace_id, c.kind, c.party, coalesce(array_agg(c.member_id) filter (where not c.away), '{}') as here,
       array_agg(c.member_id) as everyone
  from capacity.candidates c
 group by c.workspace_id, c.kind, c.party;
comment on view capacity.parties is 'The candidates of each party, as arrays.';
