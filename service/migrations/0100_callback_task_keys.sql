-- By which whoever asks for a callback task may ask again and have no second one.
create table callback_task_keys (
  tenant_id  text not null,
  key        text not null,
  body_hash  bytea not null,
  -- The key is taken before there is a task, so that of several requests one goes on.
  task_id    uuid not null,
  created_at timestamptz(3) not null,
  primary key (tenant_id, key),
  foreign key (tenant_id, task_id) references callback_tasks on delete cascade deferrable initially deferred
);
create index callback_task_keys_old on callback_task_keys (created_at);
create index callback_task_keys_task on callback_task_keys (tenant_id, task_id);
