-- What supervisors did to a call: whoever erases its session takes their words.
create index supervisor_actions_by_call on supervisor_actions (tenant_id, call_sid);
