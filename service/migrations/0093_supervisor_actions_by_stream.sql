-- What supervisors did to the stream of a call: the list of actions is asked for it, over all tenants too.
create index supervisor_actions_by_stream on supervisor_actions (stream_sid, created_at desc, id desc);
