-- A batch of what is due now, or a later one (p_page): the most important first, then what has waited longest. The first batch also has a
-- few parts of each of a hundred randomly drawn workspaces, so that a workspace with very many notifications delays nobody else.
create or replace function notify.due_parts(p_now timestamptz, p_most integer, p_page integer) returns setof notify.parts
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  with recursive places(workspace_id) as (
    (select p.workspace_id from notify.parts p where p.state = 'held' and p_page = 0 order by p.workspace_id limit 1)
    union all
    select (select p.workspace_id from notify.parts p where p.state = 'held' and p.workspace_id > w.workspace_id
             order by p.workspace_id limit 1)
      from places w where w.workspace_id is not null
  )
  (select p.* from notify.parts p where p.state = 'held' and p.due_at <= p_now
    order by p.priority desc, p.due_at limit p_most offset p_page * p_most)
  union
  select d.*
    from (select w.workspace_id from places w where w.workspace_id is not null order by random() limit 100) w
   cross join lateral (select p.* from notify.parts p where p.state = 'held' and p.workspace_id = w.workspace_id and p.due_at <= p_now
                        order by p.priority desc, p.due_at limit 5) d;
$$;
comment on function notify.due_parts(timestamptz, integer, integer) is 'What is due now, a batch of it.';
