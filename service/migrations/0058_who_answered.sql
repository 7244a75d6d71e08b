-- Who says who or what answered a call: its carrier, or the service itself, by what it heard. Null of what was told before.
alter table call_logs add column answered_by_source text;
