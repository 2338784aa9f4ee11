-- Whether a comment in Linear is ours. Its id was chosen here when its row was enqueued, so the request's rows show it
-- even before the answer to our call has arrived.
create or replace function inbound.linear_own_comment(p_request_id text, p_comment_id text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
      from (select e.request_id || '#' || e.seq as instruction_id from capacity.events e
             where e.request_id = p_request_id and 'linear:comment' = any (e.effects)
            union all
            select n.request_id || '!' || n.id from capacity.notices n
             where n.request_id = p_request_id and 'linear:comment' = any (n.effects)) i
      join outbox.rows m on m.stream = 'capacity' and m.instruction_id = i.instruction_id and m.idempotency_key = 'linear:comment'
     -- A row enqueued before comments were rendered when they are sent has the whole comment.
     where coalesce(m.payload ->> 'new_id', m.payload #>> '{input,id}') = p_comment_id);
end
$$;
comment on function inbound.linear_own_comment(text, text) is 'Whether a comment on a request''s issue is our own.';
