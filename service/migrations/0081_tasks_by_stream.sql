-- Which tasks the stream of a call has: the desk asks for them.
create index callback_tasks_by_stream on callback_tasks (tenant_id, stream_sid, created_at desc, id desc) where stream_sid is not null;
