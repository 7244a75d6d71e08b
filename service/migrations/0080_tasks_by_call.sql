-- Which tasks a call has: the desk asks for them, and so does whoever makes a task of a missed call.
create index callback_tasks_by_call on callback_tasks (tenant_id, call_sid, created_at desc, id desc) where call_sid is not null;
