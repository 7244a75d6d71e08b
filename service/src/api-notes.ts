import type { Note, Notes, SocketNote } from './platform/http/openapi/notes.ts'
import type { Schema } from './platform/http/openapi/schema.ts'

const CALL_SID = 'CA5d0c1f7e8b9a4c2f8e6d3b1a09f87c65'
const STREAM_SID = 'MZ0a1b2c3d4e5f60718293a4b5c6d7e8f9'
const ID = '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60'
const AUDIO = '////////////'

const idempotencyKey = (description: string) => ({
  ...{ name: 'Idempotency-Key', in: 'header' as const },
  schema: { type: 'string', minLength: 1, pattern: '^[!-~]([ -~]{0,253}[!-~])?$', description },
})

const MEDIA_STREAM: SocketNote = {
  description:
    'A Media Streams protocol: text frames of JSON, audio as base64 of µ-law at 8 kHz, 20 ms a frame. With the token of a person who listens ' +
    'to a call it sends connected, start, media of two tracks and stop; with that of one who takes a call over, the person is what the caller is to an agent.',
  receives: [
    {
      name: 'connected',
      description: 'Comes first.',
      example: { event: 'connected', protocol: 'Call', version: '1.0.0' },
    },
    {
      name: 'start',
      description: 'Whose call it is. Without a credential in the handshake its parameters hold the stream token.',
      example: {
        event: 'start',
        sequenceNumber: '1',
        streamSid: STREAM_SID,
        start: {
          accountSid: 'AC0',
          callSid: CALL_SID,
          streamSid: STREAM_SID,
          customParameters: { stream_token: 'eyJ…' },
        },
      },
    },
    {
      name: 'media',
      description: 'What the caller says.',
      example: { event: 'media', streamSid: STREAM_SID, media: { track: 'inbound', timestamp: '20', payload: AUDIO } },
    },
    { name: 'dtmf', description: 'A key was pressed.', example: { event: 'dtmf', dtmf: { digit: '5' } } },
    {
      name: 'mark',
      description: 'What was sent before this mark has played.',
      example: { event: 'mark', mark: { name: 'm1' } },
    },
    { name: 'stop', description: 'The call is over.', example: { event: 'stop', stop: { callSid: CALL_SID } } },
  ],
  sends: [
    {
      name: 'media',
      description: 'What the agent says.',
      example: { event: 'media', streamSid: STREAM_SID, media: { payload: AUDIO } },
    },
    {
      name: 'mark',
      description: 'To be echoed when what came before it has played.',
      example: { event: 'mark', streamSid: STREAM_SID, mark: { name: 'm1' } },
    },
    { name: 'clear', description: 'Play nothing of what is left.', example: { event: 'clear', streamSid: STREAM_SID } },
  ],
  closes: [
    { code: 1000, reason: 'The call is over.' },
    { code: 1001, reason: 'The service stops.' },
    { code: 1003, reason: 'A message is no object of JSON.' },
    { code: 1008, reason: 'A message is not of the protocol, or an internal client names no agent.' },
    { code: 1009, reason: 'A message is larger than 64 KiB.' },
    { code: 1011, reason: 'A fault of ours.' },
    {
      code: 1013,
      reason:
        'No room, the database is away, a listener is two seconds behind, or the call goes to another node: try again.',
    },
    {
      code: 4401,
      reason:
        'No good credential was shown in five seconds, or it was used before. Of a line into a call: what it was asked for with is not good any more.',
    },
    { code: 4409, reason: 'Of a call that a person wants to take over: somebody has it, or nobody can have it now.' },
  ],
}

const LOG_STREAM: SocketNote = {
  description: 'Text frames of JSON, a line of the log each, as it is written. What a reader sends is not listened to.',
  receives: [],
  sends: [
    {
      name: 'line',
      description: 'A line: these members, and those of its kind.',
      example: {
        time: '2030-01-01T09:00:00.000Z',
        level: 'info',
        msg: 'call ended',
        tenant_id: 'acme',
        call_sid: CALL_SID,
      },
    },
    {
      name: 'dropped',
      description: 'So many lines were not sent: they were lost between nodes, or the reader was too slow.',
      example: { type: 'dropped', count: 12 },
    },
  ],
  closes: [
    { code: 1001, reason: 'The service stops.' },
    { code: 1013, reason: 'The reader took nothing for 15 s: connect again.' },
    { code: 4401, reason: 'The credential is not good any more.' },
  ],
}

/**
 * What carriers send is a form; fields that are not named here are taken and left alone. They are of any value: where
 * they had to be texts, the named ones, which may be missing, would not fit beside them in the types that some
 * generators make of it.
 */
function form(fields: Record<string, string>, example: Record<string, string>): Pick<Note, 'body'> {
  const properties = Object.entries(fields).map(([name, description]): [string, Schema] => [
    name,
    { type: 'string', description },
  ])
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    additionalProperties: true,
  }
  return { body: { type: 'application/x-www-form-urlencoded', schema, example } }
}

const OF_A_CALL = { CallSid: 'The id of the call.', AccountSid: 'The account of the carrier.' }
const ASKED = form(
  { From: 'Who calls.', To: 'The number that was called.', ...OF_A_CALL },
  { From: '+12025550123', To: '+12025550140', CallSid: CALL_SID, AccountSid: 'AC00000000000000000000000000000001' },
)
const TOLD = form(
  {
    ...OF_A_CALL,
    CallStatus: 'Where the call is.',
    CallDuration: 'Seconds, once it has ended.',
    AnsweredBy: 'Who or what answered.',
    Timestamp: 'When, as RFC 2822 has it.',
    ErrorCode: "The carrier's, of a call that failed.",
    StreamEvent: 'Of a stream and not of the call.',
  },
  { CallSid: CALL_SID, AccountSid: 'AC00000000000000000000000000000001', CallStatus: 'completed', CallDuration: '62' },
)

const KEYED = form(
  { ...OF_A_CALL, Digits: 'The keys that were pressed.' },
  { CallSid: CALL_SID, AccountSid: 'AC00000000000000000000000000000001', Digits: '1' },
)

const STREAM_TOKEN: Note['parameters'] = [
  { name: 'stream_token', in: 'query', schema: { type: 'string', description: 'Opens the stream, once.' } },
]

/** What cannot be read from the schemas of the routes, by operationId. */
export const API_NOTES: Notes = {
  streamMedia: { socket: MEDIA_STREAM, parameters: STREAM_TOKEN, without: [403] },
  streamMediaByToken: { socket: MEDIA_STREAM, without: [403] },
  followLogs: { socket: LOG_STREAM },

  answerIncomingCall: ASKED,
  resumeCall: ASKED,
  answerOutboundCall: ASKED,
  takeCallStatus: TOLD,
  takeOutboundCallStatus: TOLD,
  answerTransferTarget: ASKED,
  takeTransferKey: KEYED,
  takeTransferStatus: TOLD,

  makeCall: {
    description:
      'With an `Idempotency-Key` a repeated request is answered as the first one was, for 24 hours, and places nothing.',
    parameters: [idempotencyKey('Your own reason to call, such as the number of an order.')],
    example: { to: '+12025550123', agent_key: 'reception', metadata: { order: 4711 } },
    headers: ['Idempotent-Replayed'],
  },
  cancelCall: {
    description:
      'For a call that was placed by mistake. One that somebody has answered is a 409: it is ended by `end_call` of its session. A task or contact that it was placed for is called again as after any call that nobody answered.',
  },
  createSimulation: {
    description:
      'It answers at once, with runs that are pending: ask for it again until its status is completed. Built-in tools do nothing in it, and other ones are not called unless run_tools is true.',
    example: {
      agent_key: 'reception',
      repetitions: 3,
      scenarios: [
        {
          name: 'A table for two',
          caller: { steps: [{ say: 'I would like to book a table for two.' }, { say: 'Tomorrow at eight.' }] },
          tool_results: [{ name: 'book_table', output: { table: 'seven' } }],
          expect: { tools: [{ name: 'book_table', arguments: { guests: 2 } }], heard: ['table seven'] },
        },
      ],
    },
  },
  createCampaign: {
    description:
      'The contacts may also come as `text/csv`: a first line that names the columns, `phone` among them; the others become the metadata. What else the body has stands in the query then. ' +
      'With an `Idempotency-Key` a repeated request is answered with the campaign that the first one has made, as it is now, for 24 hours, and makes none.',
    parameters: [idempotencyKey('Your own reason for the campaign, such as the name of its list.')],
    headers: ['Idempotent-Replayed'],
    example: {
      name: 'Spring',
      agent_key: 'reception',
      contacts: [{ phone: '+12025550123', metadata: { consent: true } }],
    },
    orBody: {
      type: 'text/csv',
      schema: { type: 'string' },
      example: 'phone,name,consent\n+12025550123,Ann,true\n',
    },
  },
  watchLiveSession: {
    parameters: [
      {
        name: 'Last-Event-ID',
        in: 'header',
        schema: { type: 'string', description: 'The id of the last event that was read: what came later is told.' },
      },
    ],
  },
  getRecording: {
    answerType: 'audio/wav',
    headers: ['Accept-Ranges', 'Content-Range', 'Content-Disposition', 'ETag'],
    parameters: [
      { name: 'Range', in: 'header', schema: { type: 'string', description: 'One range of bytes.' } },
      { name: 'If-Range', in: 'header', schema: { type: 'string', description: 'The ETag that the range is of.' } },
    ],
  },
  importDncEntries: {
    body: {
      type: 'text/csv',
      schema: { type: 'string' },
      example: 'phone,reason\n+12025550123,asked not to be called\n',
    },
  },
  exportDncEntries: { headers: ['Content-Disposition'] },

  logIn: { headers: ['Set-Cookie'] },
  acceptInvitation: { headers: ['Set-Cookie'] },
  logOut: { headers: ['Set-Cookie'], without: [401] },
  getAdminSession: { without: [401] },
  putRollouts: { example: { entries: [{ agent_version_id: ID, traffic_percentage: 12.5 }] }, without: [412] },
  putTenant: {
    example: {
      tenant_id: 'acme',
      name: 'Acme',
      model: 'gpt-realtime-2.1',
      voice: 'marin',
      telephony: { account_sid: 'AC00000000000000000000000000000001', auth_token: '***', from_number: '+12025550140' },
      webhook: { url: 'https://hooks.example.com/parley', secret: '***', events: ['voice.call.completed'] },
    },
  },
  createAgentVersion: {
    example: {
      agent_id: ID,
      config: { agent_name: 'Robin', greeting: 'Hello, this is Acme.', instructions: 'Be brief.', voice: 'marin' },
    },
  },
  createCallbackTask: {
    description:
      'With an `Idempotency-Key` a repeated request is answered with the task that the first one has made, as it is now, for 24 hours, and makes none.',
    parameters: [idempotencyKey('Your own reason for the task, such as the number of a complaint.')],
    headers: ['Idempotent-Replayed'],
    example: {
      customer_phone: '+12025550123',
      queue_key: 'sales',
      summary: 'Wants a second appointment.',
      priority: 'high',
    },
  },
}
