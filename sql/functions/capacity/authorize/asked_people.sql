-- The people whose turn it is, by step, with their names as messages show them; at most p_most of each step, or all.
create or replace function capacity.asked_people(p_request capacity.requests, p_most integer default 50) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_request.state not in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then
    return '[]';
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', a.member_id, 'step', a.step, 'name', a.name, 'slack', a.slack_user_id)
                              order by a.step, a.member_id), '[]')
      from (select n.*, row_number() over (partition by n.step order by n.member_id) as place
              from capacity.asked_now(p_request) n where n.asked) a
     where p_most is null or a.place <= p_most);
end
$$;
comment on function capacity.asked_people(capacity.requests, integer) is 'Whose turn it is, by step. Nullable: p_most.';
