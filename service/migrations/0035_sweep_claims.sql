-- What a sweep looks for, tenant by tenant in the order in which it is done, without what was done before: with a million tasks,
-- most of them over, the next one is found at once.

-- Copies of those in callback_task_follow_ups, so that an index can tell what is still to be done.
alter table callback_tasks
  add column reminded_at timestamptz(3),
  add column escalated_at timestamptz(3);
