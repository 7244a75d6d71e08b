-- The stream tokens that were used, by their own id: who inserts the row has the stream. Kept until no node takes the token.
create table spent_stream_tokens (
  jti        text primary key,
  expires_at timestamptz(3) not null
);
create index spent_stream_tokens_expired on spent_stream_tokens (expires_at);

-- Look-up without a tenant: whose carrier account signs this request. Several tenants may share an account.
create index tenants_carrier_account on tenants ((document #>> '{telephony,account_sid}'));
