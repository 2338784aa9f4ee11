-- What a callback does, by the status of its attempt, the run it comes from, and its signal. The handler looks it up here, the
-- documentation is generated from it, and a test covers every combination.
--
-- run: `own`, the run that claimed the attempt, or, before that, the one that our dispatch started; `none` when neither is known; `rerun`,
-- the same run started again at GitHub, which keeps its id; `other`, another run. Within an attempt things only move forward: an ended
-- attempt stays ended, whatever arrives late or twice.
create or replace function provisioning.callback_rules()
returns table (status text, run text, signal text, outcome text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select s.status, r.run, g.signal, o.outcome, o.meaning
    from unnest(array['dispatched', 'claimed', 'succeeded', 'failed', 'stopped']) s(status)
   cross join unnest(array['none', 'own', 'rerun', 'other']) r(run)
   cross join unnest(array['claim', 'heartbeat', 'succeeded', 'failed']) g(signal)
   cross join lateral (
     select case
       when s.status = 'dispatched' and r.run = 'none' then 'early'
       when s.status = 'dispatched' and r.run = 'own' then g.signal
       when s.status = 'claimed' and r.run = 'own' then case g.signal when 'claim' then 'repeated' else g.signal end
       when r.run = 'own' and s.status = g.signal then 'repeated'
       when r.run = 'own' and s.status = 'stopped' and g.signal in ('succeeded', 'failed') then 'over'
       when r.run = 'own' and s.status in ('succeeded', 'failed') and g.signal in ('succeeded', 'failed') then 'ignored'
       else 'stop' end as outcome,
       case
       when s.status = 'dispatched' and r.run = 'none' then 'GitHub has not said yet which run it started for the job.'
       when s.status = 'dispatched' and r.run = 'other' then 'Headroom started another run for the job.'
       when s.status = 'dispatched' then case g.signal when 'claim' then 'The run has the job.'
         else 'The claim was lost: the run has the job, and its report is accepted.' end
       when s.status = 'claimed' and r.run = 'own' then case g.signal when 'claim' then 'It already has the job.'
         when 'heartbeat' then 'It is alive.' when 'succeeded' then 'It succeeded.' else 'It failed.' end
       when s.status = 'claimed' and r.run = 'rerun' then 'A re-run is not an attempt: ask for one in Headroom.'
       when s.status = 'claimed' then 'Another run has the job.'
       when r.run = 'own' and s.status = g.signal then 'That is already known.'
       when r.run = 'own' and s.status = 'stopped' and g.signal in ('succeeded', 'failed')
         then 'The attempt had ended. Now its run has ended too, and nothing waits for it any longer.'
       when r.run = 'own' and s.status in ('succeeded', 'failed') and g.signal in ('succeeded', 'failed')
         then 'It reported a different result before.'
       else 'The attempt has ended.' end as meaning) o
   where (s.status = 'dispatched') <= (r.run <> 'rerun')
     and (s.status in ('claimed', 'succeeded')) <= (r.run <> 'none');
$$;
comment on function provisioning.callback_rules() is 'What each callback does.';
