import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import { addFormats } from '../platform/http/formats.ts'
import { TenantDocument } from './tenant-document.ts'
import { documentFaults } from './tenant-document-faults.ts'
import { documents, FULL_DOCUMENT } from './tenant-documents.fixture.ts'
import { BUILT_IN_TOOLS } from './tenant-tools.ts'

const ajv = new Ajv({ strict: false, allErrors: true })
addFormats(ajv)
const isDocument = ajv.compile<TenantDocument>(TenantDocument)

type Place = Record<string | number, unknown>

/** The full document with one member, given by its JSON pointer, set to something else. */
function having(pointer: string, value: unknown): TenantDocument {
  const document = structuredClone(FULL_DOCUMENT)
  const members = pointer.slice(1).split('/')
  const last = members.pop() ?? ''
  const holder = members.reduce<Place>((at, member) => at[member] as Place, document as Place)
  holder[last] = value
  return document
}

/** Every object of the document, by pointer. */
function objectsOf(value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const here = Array.isArray(value) ? [] : [pointer]
  return [...here, ...Object.entries(value).flatMap(([name, member]) => objectsOf(member, `${pointer}/${name}`))]
}

type Shape = { description?: string; properties?: Record<string, object>; anyOf?: object[] }

/** The members of a schema that have neither members of their own nor a description. */
function untold(schema: object, path = ''): string[] {
  const shapes: Shape[] = [schema, ...((schema as Shape).anyOf ?? [])]
  const members = shapes.flatMap(({ properties = {} }) => Object.entries(properties))
  if (members.length > 0) return members.flatMap(([name, member]) => untold(member, `${path}/${name}`))
  return shapes.some(({ description }) => description !== undefined) ? [] : [path]
}

const text = (length: number) => 'x'.repeat(length)
const many = <T>(length: number, item: (index: number) => T) => Array.from({ length }, (_, index) => item(index))

describe('the schema of a tenant document', () => {
  it('says of each member what it is', () => {
    expect(untold(TenantDocument)).toEqual([])
  })

  it('takes one that only names the tenant, and one that says everything', () => {
    expect(isDocument({ tenant_id: 'acme' })).toBe(true)
    expect(isDocument(FULL_DOCUMENT)).toBe(true)
    expect(isDocument({ ...FULL_DOCUMENT, tenant_id: undefined })).toBe(false)
  })

  it('takes every document that our other properties are tried with', async () => {
    const isTaken = async (document: TenantDocument) =>
      isDocument(document) && (await documentFaults(document, '')).length === 0
    await fc.assert(fc.asyncProperty(documents(), isTaken))
  })

  /** A map has members of its writer's own, so nothing in it is unknown. */
  const MAPS = /\/(headers|parameters)(\/|$)/

  it.each(objectsOf(FULL_DOCUMENT).filter((pointer) => !MAPS.test(pointer)))(
    'refuses an unknown member of "%s"',
    (pointer) => {
      expect(isDocument(having(`${pointer}/unheard_of`, 1))).toBe(false)
    },
  )

  it.each([
    ['/tenant_id', [text(63), '0', 'a_b-c'], ['', text(64), 'Acme', '-acme', 'a.b', 'a b', 7, null]],
    ['/name', ['A', text(200), null], ['', text(201), 7]],
    ['/model', [text(200), null], [text(201)]],
    ['/auth_token', ['***', null], [text(201), 7]],
    ['/telephony', [null, {}], [[], 'twilio']],
    ['/telephony/provider', ['twilio'], ['other', null]],
    ['/telephony/account_sid', ['AC1', null], ['', 'AC/..', text(65)]],
    ['/telephony/from_number', ['+12025550101', null], ['12025550101', '+0', '+1 202 555 0101', '+1202555']],
    ['/telephony/fallback_number', ['+4930123456', null], ['+49', '+120255501011234']],
    ['/agent', [null, {}], [{ prompt: '' }]],
    ['/audio_output/provider', ['primary', 'secondary'], ['tertiary', null]],
    ['/webhook/events', [null, ['dnc.added']], [[], ['dnc.added', 'dnc.added'], ['unheard.of']]],
    ['/webhook/disabled', [true, false], ['yes', null]],
    ['/inbound_decision/timeout_ms', [200, 5_000], [199, 5_001, 300.5, '300', null]],
    ['/limits/max_concurrent_calls', [1, 10_000, null], [0, 10_001, 1.5]],
    ['/limits/requests_per_minute', [1, 1_000_000, null], [0]],
    ['/limits/max_call_seconds', [10, 14_400], [9, 14_401, null]],
    ['/limits/idle_seconds', [3, 600], [2, 601, null]],
    ['/limits/minutes_per_day', [0, null], [-1, 0.5]],
    ['/limits/budget_per_call', [0, 0.01, null], [-0.01, '1']],
    ['/limits/budget_per_day', [0, 1e9, null], [1e10]],
    [
      '/compliance/calling_hours',
      [null, { start: '20:00', end: '08:00' }],
      [{ start: '08:00' }, { start: '8:00', end: '9:00' }],
    ],
    ['/compliance/calling_hours/end', ['24:00', '00:00', '23:59'], ['24:01', '25:00', '12:60', '']],
    ['/compliance/max_attempts_per_day', [1, null], [0]],
    ['/compliance/allowed_countries', [[], ['US'], null], [['us'], ['USA'], ['US', 'US']]],
    ['/compliance/retention_days', [1, 3_650, null], [0, 3_651]],
    ['/compliance/record_calls', [true, false], ['true', null]],
    ['/compliance/ai_disclosure', ['I am not a person.', null], ['', ' ', text(2_001)]],
    ['/transfer_targets', [[], ['+1', '+12025550101']], [['1'], ['+'], ['+0'], ['+1', '+1'], null]],
    [
      '/tools',
      [[]],
      [null, {}, many(101, (index) => ({ type: 'mcp', name: `s${index}`, url: 'https://example.com' }))],
    ],
    ['/tools/0/type', ['http'], ['mcp', 'grpc']],
    ['/tools/0/name', [text(64), 'A-b_9'], ['', text(65), 'a b', 'a.b']],
    ['/tools/0/method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['get', 'TRACE']],
    ['/tools/0/timeout_ms', [100, 60_000], [99, 60_001]],
    ['/tools/1/headers', [{}, { 'x-key': 'a' }], [{ 'x-key': 1 }, [], null]],
    ['/tools/1/tools', [null, [], ['a']], [['a', 'a'], ['']]],
    ['/ticketing/driver', ['generic', 'zendesk'], ['other', null]],
    ['/missed_calls/queue_key', ['a', 'a_b-1'], ['', 'A', null]],
    ['/missed_calls/when', [['missed'], ['failed', 'abandoned']], [[], ['missed', 'missed'], ['lost']]],
  ])('keeps the bounds of %s', (pointer, taken, refused) => {
    expect(taken.filter((value) => !isDocument(having(pointer, value)))).toEqual([])
    expect(refused.filter((value) => isDocument(having(pointer, value)))).toEqual([])
  })
})

describe('documentFaults', () => {
  const faultsOf = (document: TenantDocument) => documentFaults(document, '/body')

  it('finds nothing in a sound document, whether its secrets are sent or kept', async () => {
    expect(await faultsOf(FULL_DOCUMENT)).toEqual([])
    expect(await faultsOf({ tenant_id: FULL_DOCUMENT.tenant_id })).toEqual([])
    const older = { tenant_id: 'cached' as TenantId }
    expect(await documentFaults(older, '/body', older)).toEqual([])
    const kept = {
      auth_token: '***',
      webhook: { url: 'https://hooks.example.com', secret: '***', secret_previous: '***' },
    }
    expect(await faultsOf({ ...FULL_DOCUMENT, ...kept })).toEqual([])
  })

  it.each([
    ['/auth_token', ['sixteen-letters-'], ['fifteen-letters', 'sixteen letters-', 'sixteen-letters\u00e4']],
    ['/telephony/auth_token', ['t'], ['', 'two words']],
    [
      '/telephony/fallback_number',
      ['+12025550100'],
      ['+8821612345678', '+19005550100', '+447012345678', '+12129765555'],
    ],
    [
      '/webhook/url',
      ['http://localhost:9', 'https://a.example/x?y=1'],
      ['ftp://a.example', '/x', 'a.example', 'http://'],
    ],
    ['/webhook/url', [], ['https://user:pass@a.example', 'https://user@a.example']],
    [
      '/webhook/secret',
      [`whsec_${btoa(text(24))}`, text(16)],
      [`whsec_${btoa(text(23))}`, `whsec_${btoa(text(65))}`, text(15)],
    ],
    ['/webhook/secret_previous', [`whsec_${btoa(text(64))}`], ['whsec_!!!', `whsec_${btoa(text(24))}=`]],
    ['/inbound_decision/url', ['https://a.example'], ['file:///etc/passwd']],
    ['/compliance/timezone', ['Europe/Berlin', 'UTC'], ['Mars/Base', '+01:00', 'Europe']],
    [
      '/compliance/calling_hours',
      [
        { start: '22:00', end: '06:00' },
        { start: '00:00', end: '24:00' },
      ],
      [],
    ],
    [
      '/compliance/calling_hours',
      [],
      [
        { start: '08:00', end: '08:00' },
        { start: '24:00', end: '08:00' },
      ],
    ],
    ['/compliance/allowed_countries/1', ['DE', 'GB'], ['ZZ', 'UK', 'XX']],
    ['/tools/1/name', ['other'], ['find_slot', ...BUILT_IN_TOOLS]],
    [
      '/tools/0/url',
      ['http://127.0.0.1/', 'https://api.example.com/{{day}}?by={{call.caller}}', 'https://api.example.com/{{ day }}'],
      [
        'javascript:alert(1)',
        'https://{{day}}.example.com/',
        'https://api.example.com/{{night}}',
        'https://api.example.com/{{ night }}',
        'https://api.example.com/{{größe}}',
        'https://a.b/{{call.x}}',
      ],
    ],
    ['/tools/0/parameters', [{ type: 'object' }], [{}, { type: 'string' }, { type: 'object', properties: 7 }]],
    [
      '/tools/0/parameters',
      [],
      [
        { type: 'object', required: 'day' },
        { type: 'object', $ref: 'https://a.example/x' },
      ],
    ],
    [
      '/tools/0/headers/Authorization',
      ['', 'Basic eDp5', 'a {{day}}'],
      ['{{night}}', '{{ night }}', 'a\r\nb: c', 'a\0', '\u2603'],
    ],
    ['/ticketing/base_url', ['https://t.example'], ['t.example']],
    ['/ticketing/token', ['me@example.com/token:abc'], ['']],
  ])('judges %s', async (pointer, taken, refused) => {
    for (const value of taken) expect([value, await faultsOf(having(pointer, value))]).toEqual([value, []])
    for (const value of refused)
      expect((await faultsOf(having(pointer, value))).map(({ path }) => path)).toEqual([`/body${pointer}`])
  })

  it.each([
    ['a name that is none', { 'x y': '1' }, '/body/tools/0/headers/x y'],
    ['a name of 101 characters', { [text(101)]: '1' }, `/body/tools/0/headers/${text(100)}`],
    ['an empty name', { '': '1' }, '/body/tools/0/headers/'],
    ['a name in two cases', { 'X-Key': '1', 'x-key': '2' }, '/body/tools/0/headers/x-key'],
    ['a header that frames the request', { Host: 'a.example' }, '/body/tools/0/headers/Host'],
    ['a header that carries the length', { 'content-length': '1' }, '/body/tools/0/headers/content-length'],
  ])('refuses %s among the headers of a tool', async (_name, headers, path) => {
    expect((await faultsOf(having('/tools/0/headers', headers))).map((fault) => fault.path)).toEqual([path])
  })

  it('finds the faults of the agent, under its own path', async () => {
    const [fault] = await faultsOf(having('/agent/voicemail', { action: 'leave_message' }))
    expect(fault?.path).toBe('/body/agent/voicemail/message')
  })
})
