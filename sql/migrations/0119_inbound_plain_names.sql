-- Functions that now say what they do. Only functions called them.
drop function if exists billing.hear(jsonb);
drop function if exists billing.learn(jsonb, text, timestamptz, text);
drop function if exists billing.learn_dispute(jsonb, text, timestamptz);
drop function if exists billing.learn_invoice(jsonb, text, timestamptz, text);
drop function if exists billing.learn_payment_intent(jsonb, text, timestamptz);
drop function if exists billing.learn_refund(jsonb, text, timestamptz);
drop function if exists billing.learn_session(jsonb, text, timestamptz, text);
drop function if exists billing.learn_subscription(jsonb, text, timestamptz);
drop function if exists billing.find_out(text, text, text, text, text);
drop function if exists notify.carry(notify.notifications[], text);
drop function if exists notify.learn_outcome(uuid, text, text, text);
drop function if exists provisioning.hear(text, jsonb);
drop function if exists provisioning.note_heard(provisioning.attempts);
drop function if exists provisioning.obey(provisioning.jobs, provisioning.attempts, text, text, jsonb);
