-- Whose tasks these are: the desk asks for them, and so does whoever makes a task of a missed call.
create index callback_tasks_by_phone on callback_tasks (tenant_id, customer_phone, created_at desc, id desc);
