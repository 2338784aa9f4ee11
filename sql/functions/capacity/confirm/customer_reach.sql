-- Where the customer of a request gets mail, or why they get none. The address that was added last wins, else the one in
-- customer_ref; after an erasure there is neither. `problem` says why no link can be sent: erased, no_address, bad_address,
-- no_public_url; or null.
create or replace function capacity.customer_reach(p_request_id text, out address text, out problem text)
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_given jsonb;
begin
  select case when x.request_id is null then coalesce(a.content, d.customer_ref -> 'email') end,
         case when x.request_id is not null then 'erased'
              else capacity.address_problem(coalesce(a.content, d.customer_ref -> 'email'), w.public_url) end
    into v_given, problem
    from capacity.requests r
    join directory.workspaces w on w.id = r.workspace_id
    left join capacity.personal_data d on d.request_id = r.id
    left join capacity.erasures x on x.request_id = r.id
    left join lateral (select (select t.content from capacity.free_texts t
                                where t.request_id = n.request_id and t.hash = n.body_hash) as content
                         from capacity.notices n
                        where n.request_id = r.id and n.kind = 'address' order by n.id desc limit 1) a on true
   where r.id = p_request_id;
  address := case when problem is null or problem = 'no_public_url' then v_given #>> '{}' end;
end
$$;
comment on function capacity.customer_reach(text)
  is 'The customer''s address, and why no link can be mailed to them. Nullable: address, problem.';
