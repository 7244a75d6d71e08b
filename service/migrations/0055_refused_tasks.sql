-- A copy of that in callback_task_follow_ups, so that an index can tell which tasks were refused and are still to be done.
alter table callback_tasks add column refused_at timestamptz(3);
