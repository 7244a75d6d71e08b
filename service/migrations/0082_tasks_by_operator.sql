-- Which tasks an operator has claimed, or had at the end: the desk asks for them.
create index callback_tasks_by_operator on callback_tasks (tenant_id, assigned_to, created_at desc, id desc)
  where assigned_to is not null;
