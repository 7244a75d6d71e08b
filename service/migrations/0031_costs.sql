-- What the model of a conversation cost, in USD, of each turn and in all; null where no price is known.
alter table voice_sessions add column cost_usd double precision;
alter table call_logs add column cost_usd double precision;
alter table transcript_turns add column cost_usd double precision;
