-- Each party with its candidates: those who are here, and all of them. Lists and counts join this instead of querying it for every request.
create or replace view capacity.parties as
select c.workspace_id, c.kind, c.party, coalesce(array_agg(c.member_id) filter (where not c.away), '{}') as here,
       array_agg(c.member_id) as everyone
  from capacity.candidates c
 group by c.workspace_id, c.kind, c.party;
comment on view capacity.parties is 'The candidates of each party, as arrays.';
