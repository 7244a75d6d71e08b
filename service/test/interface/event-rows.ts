import { by, type RuleRow, rule } from './row.ts'

const DELIVERER = 'src/delivery/deliverer.db'
const DELIVERIES = 'test/deliveries.db'
const SLA = 'src/operators/sweeps/sla-sweep.db'

/** What is told, and how. */
export const EVENT_ROWS: RuleRow[] = [
  rule(
    'The envelope: event, tenant_id, call_sid, voice_session_id, created_at, payload',
    'events.md',
    by('src/delivery/enqueue.db', 'writes the envelope with its members in their order, due at once'),
  ),
  rule(
    'Each event as it is documented; `voice.call.completed` with duration_seconds and status',
    'events.md',
    by(DELIVERIES, 'tells a tenant each event of a call as documented, signed and numbered, and billing what it cost'),
  ),
  rule(
    'An event without a call has empty ids',
    'events.md',
    by('src/delivery/enqueue.db', 'gives an event without a call empty ids and no number'),
  ),
  rule(
    'Signed as Standard Webhooks, to the byte',
    'webhooks.md',
    by(DELIVERER, 'is sent as soon as it is committed, signed, with its number, to the byte as it was written'),
  ),
  rule(
    'Written in the transaction that it reports',
    'webhooks.md',
    by(DELIVERER, 'of a transaction that is rolled back is never sent'),
  ),
  rule(
    'Numbered for each call from 1 without a gap',
    'webhooks.md',
    by('src/delivery/enqueue.db', 'numbers the events of each call from 1 without a gap, also when they come at once'),
  ),
  rule(
    'Tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, then failed',
    'webhooks.md',
    by(
      DELIVERER,
      'is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with the same id and body, then no more',
    ),
  ),
  rule(
    'A target that answers 410 is sent nothing more',
    'webhooks.md',
    by(DELIVERER, 'that answers 410 is sent nothing more'),
  ),
  rule(
    'An event to which its target answers 429 waits for as long as it asks',
    'webhooks.md',
    by(DELIVERER, 'that answers 429 is left alone for as long as it asks'),
  ),
  rule(
    'A target that hangs is given up after 10 s',
    'webhooks.md',
    by(DELIVERER, 'that is silent is given up after 10 s and tried again'),
  ),
  rule(
    'A target that drips has taken it',
    'webhooks.md',
    by(DELIVERER, 'that has taken it and drips from then on has it, and is left after 10 s'),
  ),
  rule(
    'A target that resets is tried again',
    'webhooks.md',
    by(DELIVERER, 'that resets the connection is tried again'),
  ),
  rule('A target that redirects is not followed', 'webhooks.md', by(DELIVERER, 'that redirects is tried again')),
  rule(
    'A process that is killed between commit and delivery loses none',
    'webhooks.md',
    by(
      'test/delivery-killed.db',
      'has what it was sending, and what it had just written down, delivered after the next start as it was',
    ),
  ),
  rule(
    'Sweeps enqueue webhooks when `emit_webhooks` is true, and count them',
    'operators.md',
    by(SLA, 'tells webhooks only when it is asked to'),
  ),
  rule(
    'A tenant that hangs holds up no other',
    'webhooks.md',
    by(DELIVERER, 'whose targets hang hold up no other one, and get one attempt at a time from then on'),
  ),
  rule(
    'Lists of numbers, and what is sent again, let other events of their tenant go first',
    'webhooks.md',
    by(DELIVERER, 'as a list of numbers lets other events of the tenant go first'),
  ),
  rule(
    '`voice.evaluation.completed` is sent',
    'events.md',
    by(
      'src/records/evaluations/evaluation-routes.db',
      "records a person's score, which the session shows, and tells the tenant",
    ),
  ),
  rule(
    '`voice.session.completed` waits for the `extraction` that its agent version asks for',
    'evaluations.md',
    by('src/records/evaluations/after-call.db', 'has it with its end, which is told then, with the summary'),
  ),
  rule(
    '`rollout.rolled_back` is sent',
    'events.md',
    by(
      'src/agents/rollout-governance-routes.db',
      'takes its share with apply: the others keep theirs and their callers, and it is audited and told',
    ),
  ),
  rule(
    '`campaign.started`, `campaign.completed` are sent',
    'events.md',
    by('test/campaigns.db', 'calls everybody, notes what came of it, and is over then'),
  ),
]
