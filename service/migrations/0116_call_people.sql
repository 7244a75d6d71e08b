-- Which person had a call placed, and which one had it cancelled while it rang. Null where no person did, and of what was done before.
alter table call_logs
  add column placed_by text,
  add column canceled_by text;
