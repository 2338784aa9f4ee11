-- What it looks at is called p_object: not only sessions bring in money. A function that is there keeps the names of its parameters.
drop function if exists billing.is_play_money(jsonb);
