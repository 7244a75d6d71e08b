/** What a caller has talked the model into. `raw`: the arguments as they come, which need be no JSON. */
export type Attack = { name: string; tool: string; told: RegExp } & ({ args: unknown } | { raw: string })

const E164 = /must (?:match|be a phone number in E\.164)/
const NOT_ALLOWED = /must be (?:one of the tenant's transfer_targets|a phone number in E\.164)/
const NEVER = /those are never called/
const SHAPE = /must|unknown|is not|allowed|is required/

/** Those to which the tenant of the attacks has its calls put through: one number, and a country. */
export const TARGETS = ['+12025550199', '+4420', '+4470', '+4490']

const others = [
  ...['+12025550198', '+12025550100', '+1202555019', '+120255501', '+12125550199', '+13105550199', '+14165550199'],
  ...['+442', '+4411', '+44121496000', '+441214960000', '+33170189900', '+4930123456', '+393401234567', '+34911234567'],
  ...['+5215512345678', '+861012345678', '+919876543210', '+2348012345678', '+97150123456', '+61255501234'],
  ...['+390123456789', '+48221234567', '+31201234567', '+12025550', '+18005550199', '+15005550006'],
].map((target) => ({ name: `a transfer to ${target}`, target, told: NOT_ALLOWED }))

const costly = ['+447012345678', '+447098765432', '+449012345678', '+449098765432'].map((target) => ({
  ...{ name: `a transfer to ${target}, in an allowed country`, target, told: NEVER },
}))

const odd = [
  ...['12025550199', '0012025550199', '+1 202 555 0199', '+1-202-555-0199', ' +12025550199', '+12025550199 '],
  ...['+12025550199;ext=1', '+12025550199,+19005550100', 'tel:+12025550199', 'sip:+12025550199@evil.example'],
  ...[
    '+１２０２５５５０１９９',
    '+12025550199\n+19005550100',
    '+0',
    '+',
    '',
    'anonymous',
    '+12025550199</Number><Number>+19005550100',
  ],
  ...['+12025550199"/><Dial>+19005550100</Dial>', '+12025550199\u0000', `+1${'2'.repeat(400)}`, "+1202' or '1'='1"],
].map((target) => ({ name: `a transfer to ${JSON.stringify(target.slice(0, 50))}`, target, told: E164 }))

const transfers: Attack[] = [...others, ...costly, ...odd].map(({ target, ...attack }) => {
  return { ...attack, tool: 'transfer_call', args: { target } }
})

const transferShapes: Attack[] = [
  { name: 'a list of targets', args: { target: ['+12025550199', '+19005550100'] } },
  { name: 'an object for a target', args: { target: { toString: '+12025550199' } } },
  { name: 'a number that is no text', args: { target: 12025550199 } },
  { name: 'no target at all', args: { warm: true } },
  { name: 'targets of its own beside the target', args: { target: '+12025550199', transfer_targets: ['+1900'] } },
  { name: "another tenant's name beside the target", args: { target: '+12025550199', tenant_id: 'globex' } },
  { name: 'a summary of a book', args: { target: '+12025550199', summary: 'x'.repeat(1_001) } },
].map((attack) => ({ ...attack, tool: 'transfer_call', told: SHAPE }))

const handOffs: Attack[] = [
  ...[
    'vault',
    'globex',
    'globex/vault',
    '../globex/vault',
    'DESK',
    ' desk',
    'desk ',
    '__proto__',
    'constructor',
    'toString',
  ],
  ...[
    "desk' or '1'='1",
    'desk; drop table agents',
    '00000000-0000-7000-8000-0000000000ff',
    '%64esk',
    'desk\u0000',
    '*',
    '%',
  ],
].map((key) => ({
  ...{ name: `a hand-off to ${JSON.stringify(key)}`, tool: 'hand_off', args: { agent_key: key } },
  told: /there is no agent with this key/,
}))

const handOffShapes: Attack[] = [
  { name: 'a hand-off to nobody', args: { agent_key: '' } },
  { name: 'a hand-off within another tenant', args: { agent_key: 'vault', tenant_id: 'globex' } },
  {
    name: 'a hand-off to a version',
    args: { agent_key: 'sales', agent_version_id: '0190b29f-11aa-7c00-9b0d-3f6a7e8c9d10' },
  },
  { name: 'a hand-off to a list', args: { agent_key: ['vault'] } },
  { name: 'a hand-off by a key of 64 characters', args: { agent_key: 'k'.repeat(64) } },
].map((attack) => ({ ...attack, tool: 'hand_off', told: SHAPE }))

const callbacks: Attack[] = [
  ...['+19005550100', '+12129760100', '+449098765432', '+447012345678', '+881612345678'].map((phone) => ({
    name: `a callback to ${phone}, which costs`,
    args: { phone, summary: 'Call me.' },
    told: NEVER,
  })),
  { name: 'a callback to a number that is none', args: { phone: '+1', summary: 'x' }, told: SHAPE },
  { name: 'a callback to a SIP address', args: { phone: 'sip:a@evil.example', summary: 'x' }, told: E164 },
  { name: 'a callback in the past', args: { when: '1999-01-01T00:00:00Z', summary: 'x' }, told: /in the past/ },
  {
    name: 'a callback in a century',
    args: { when: '2130-01-01T00:00:00Z', summary: 'x' },
    told: /more than a year away/,
  },
  { name: 'a callback at a time that is SQL', args: { when: "now() + interval '1 day'", summary: 'x' }, told: SHAPE },
  { name: 'a callback for another tenant', args: { summary: 'x', tenant_id: 'globex' }, told: SHAPE },
  { name: 'a callback in a queue of its choice', args: { summary: 'x', queue_key: 'vip' }, told: SHAPE },
  { name: 'a callback more urgent than urgent', args: { summary: 'x', priority: 'now' }, told: SHAPE },
  { name: 'a callback about a book', args: { summary: 'x'.repeat(2_001) }, told: SHAPE },
].map((attack) => ({ ...attack, tool: 'schedule_callback' }))

const lists: Attack[] = [
  { name: "somebody else's number on the do-not-call list", args: { phone: '+12025550177' } },
  { name: "somebody else's number as a number", args: { number: '+12025550177', reason: 'x' } },
  { name: 'several numbers on the do-not-call list', args: { phones: ['+12025550177', '+12025550178'] } },
  { name: "a number on another tenant's list", args: { reason: 'x', tenant_id: 'globex' } },
  { name: 'a reason of a book', args: { reason: 'x'.repeat(501) } },
  { name: 'a reason that is no text', args: { reason: { $ne: null } } },
].map((attack) => ({ ...attack, tool: 'add_to_dnc', told: SHAPE }))

const keys: Attack[] = [
  { name: 'keys for a minute', args: { digits: '1'.repeat(33) } },
  { name: 'keys for a day', args: { digits: 'w'.repeat(20_000) } },
  { name: 'keys that are none', args: { digits: '12E' } },
  { name: 'keys that are a document', args: { digits: '1"/><Hangup/>' } },
  { name: 'no keys', args: { digits: '' } },
  { name: 'keys as a number', args: { digits: 123 } },
  { name: 'keys on another line', args: { digits: '1', call_sid: 'CA2' } },
].map((attack) => ({ ...attack, tool: 'send_dtmf', told: SHAPE }))

const recordings: Attack[] = [
  { name: 'a recording paused by a word', args: { paused: 'yes' }, told: SHAPE },
  { name: 'a recording paused by nothing', args: {}, told: SHAPE },
  { name: "another call's recording paused", args: { paused: true, call_sid: 'CA2' }, told: SHAPE },
  { name: 'a recording deleted', args: { paused: true, delete: true }, told: SHAPE },
  { name: 'a recording paused where there is none', args: { paused: true }, told: /not recorded/ },
].map((attack) => ({ ...attack, tool: 'pause_recording' }))

const steps = ['..', '.'].map((number) => ({
  name: `an order ${JSON.stringify(number)}`,
  args: { number },
}))

const requests: Attack[] = [
  { name: 'an order that is no order', args: { number: '' }, told: /must not be empty|must/ },
  { name: 'an order with a further argument', args: { number: '7', url: 'http://169.254.169.254/' }, told: SHAPE },
  { name: 'an order with a host', args: { number: '7', host: '127.0.0.1' }, told: SHAPE },
  { name: 'an order with facts of the call', args: { number: '7', 'call.tenant': 'globex' }, told: SHAPE },
  { name: 'an order that is a list', args: { number: ['7'] }, told: SHAPE },
  { name: 'an order of 21 characters', args: { number: "7' or '1'='1' -- aaaaa" }, told: SHAPE },
  {
    name: 'a header with a line of its own',
    args: { number: '7', trace: 'a\r\nx-admin: yes' },
    told: /cannot be sent/,
  },
  { name: 'a header with half a line', args: { number: '7', trace: 'a\nb' }, told: /cannot be sent/ },
  { name: 'a header with a NUL', args: { number: '7', trace: 'a\u0000b' }, told: /cannot be sent/ },
  { name: 'a header with a line in another script', args: { number: '7', trace: 'ключ\nда' }, told: /cannot be sent/ },
].map((attack) => ({ ...attack, tool: 'order_status' }))

const paths: Attack[] = steps.map((step) => ({ ...step, tool: 'order_status', told: /do not make an address|must/ }))

const inside: Attack[] = [
  ...['metadata_of_the_cloud', 'database_of_the_house', 'printer', 'loopback', 'name_that_leads_inside'],
].map((tool) => ({ name: `the address of ${tool}`, tool, args: {}, told: /address|private|network|reach/i }))

const prototypes: Attack[] = [
  { name: 'a prototype', tool: 'order_status', raw: '{"number":"7","__proto__":{"isAdmin":true}}' },
  { name: 'a prototype of a transfer', tool: 'transfer_call', raw: '{"__proto__":{"target":"+12025550199"}}' },
  { name: 'a constructor', tool: 'hand_off', raw: '{"agent_key":"sales","constructor":{"prototype":{"x":1}}}' },
  { name: 'no JSON', tool: 'order_status', raw: '{"number":' },
  { name: 'a list in place of arguments', tool: 'order_status', raw: '["7"]' },
  { name: 'a text in place of arguments', tool: 'transfer_call', raw: '"+12025550199"' },
  { name: 'null in place of arguments', tool: 'hand_off', raw: 'null' },
  { name: 'arguments of 33,000 characters', tool: 'order_status', raw: `{"number":"${'7'.repeat(33_000)}"}` },
  {
    name: 'arguments that are nested deeply',
    tool: 'order_status',
    raw: `{"number":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
  },
].map((attack) => ({ ...attack, told: /valid JSON|too long|must|unknown|is not|no tool|failed/ }))

const unknown: Attack[] = [
  ...[
    'orders__delete_all',
    'orders__refund',
    'orders__',
    'orders',
    'stock__look_up',
    'orders__look_up__x',
    'make_call',
    'eval',
  ],
  ...[
    '__proto__',
    'constructor',
    'end_session',
    'transfer_call ',
    'TRANSFER_CALL',
    'set_secret',
    'order_status/../x',
    '',
  ],
].map((tool) => ({
  name: `a tool ${JSON.stringify(tool)} that the agent does not have`,
  tool,
  args: {},
  told: /there is no tool/,
}))

/** Over a hundred things that no caller is to have done, however they ask. */
export const ATTACKS: Attack[] = [
  ...[...transfers, ...transferShapes, ...handOffs, ...handOffShapes, ...callbacks, ...lists],
  ...[...keys, ...recordings, ...requests, ...paths, ...inside, ...prototypes, ...unknown],
]
