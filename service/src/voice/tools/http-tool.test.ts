import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { type Behaviour, startWebhookTarget, type WebhookTarget } from '../../../test/harness/webhook-target.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeOutbound } from '../../platform/outbound/outbound.ts'
import type { SessionId } from '../../records/call-values.ts'
import { NO_ACCOUNT } from '../../tenancy/no-account.fixture.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import type { HttpTool } from '../../tenancy/tenant-tools.ts'
import { notedControls } from './controls.fixture.ts'
import { httpTool } from './http-tool.ts'
import type { ToolCall } from './tool.ts'
import type { RuntimeHttpTool } from './tool-request.ts'

const SESSION = '018f0000-0000-7000-8000-000000000001'
const ARGUMENTS = {
  type: 'object',
  properties: { id: { type: 'string' }, note: { type: 'string' }, many: { type: 'array' }, days: { type: 'integer' } },
  required: ['id'],
  additionalProperties: false,
}

const CALL: ToolCall = {
  tenant: toRuntime({ tenant_id: 'acme' as TenantId }, NO_ACCOUNT),
  ...{ callSid: 'CA1', sessionId: SESSION as SessionId, streamSid: 'MZ1', agentName: 'Robin', callId: 'call_1' },
  customerPhone: '+12025550101',
  controls: notedControls().controls,
}

async function targetThat(...behaviours: Behaviour[]): Promise<WebhookTarget> {
  const target = await startWebhookTarget()
  onTestFinished(() => target.close())
  target.answer(...behaviours)
  return target
}

type Given = { args?: unknown; clock?: Clock; allowPrivate?: boolean }

function run(tool: Partial<HttpTool> & { url: string }, { args = { id: 'o 1' }, ...given }: Given = {}) {
  const { clock = new TestClock(), allowPrivate = true } = given
  const { request: ask } = makeOutbound({ clock, allowPrivate, resolve: async () => ['127.0.0.1'] })
  const document = { type: 'http' as const, name: 'look_up', parameters: ARGUMENTS, ...tool }
  const [made] = toRuntime({ tenant_id: 'acme' as TenantId, tools: [document] }, NO_ACCOUNT).tools
  return httpTool({ clock, ask }, made as RuntimeHttpTool).ask(args, CALL, new AbortController().signal)
}

const resultOf = async (...given: Parameters<typeof run>) => (await run(...given)).result
const at = (target: WebhookTarget, path: string) => target.url.replace('/hook', path)

const BROKEN_OFF = { error: 'The answer did not come to its end. It is not known whether it was done.', status: 200 }

describe('a tool of a tenant', () => {
  it('sends its arguments as JSON, and tells the model what came', async () => {
    const target = await targetThat({ status: 200, body: '{"price": 12}' })
    const { result } = await run({ url: target.url, headers: { Authorization: 'Bearer s3cret-of-the-tenant' } })
    expect(result).toEqual({ output: { status: 200, body: { price: 12 } } })
    const [got] = target.received
    expect(got).toMatchObject({ method: 'POST', path: '/hook', body: '{"id":"o 1"}' })
    expect(got?.headers).toMatchObject({
      ...{ authorization: 'Bearer s3cret-of-the-tenant', 'content-type': 'application/json' },
      ...{ 'idempotency-key': `${SESSION}.call_1`, 'parley-call-sid': 'CA1', 'user-agent': 'Parley-Tools/1' },
    })
  })

  it('has what its address and headers name filled in there, and only the rest in the body', async () => {
    const target = await targetThat({ status: 200 })
    const url = at(target, '/of/{{call.tenant}}/{{id}}?by={{call.caller}}&days={{days}}')
    await run({ url, headers: { 'x-note': 'n: {{note}}' } }, { args: { id: 'a/../b?c=d#é', note: 'hi', many: [1] } })
    expect(target.received[0]).toMatchObject({
      path: '/of/acme/a%2F..%2Fb%3Fc%3Dd%23%C3%A9?by=%2B12025550101&days=',
      body: '{"many":[1]}',
    })
    expect(target.received[0]?.headers['x-note']).toBe('n: hi')
  })

  it('has them filled in with blanks around their names, and by names of any language, as prompts have', async () => {
    const target = await targetThat({ status: 200 })
    const tool = {
      ...{ url: at(target, '/of/{{ id }}?s={{größe}}'), headers: { 'x-note': '{{ call.tenant }}' } },
      parameters: { type: 'object', properties: { id: { type: 'string' }, größe: { type: 'string' } } },
    }
    await run(tool, { args: { id: '7', größe: 'L' } })
    expect(target.received[0]).toMatchObject({ path: '/of/7?s=L', body: '{}', headers: { 'x-note': 'acme' } })
  })

  it.each([
    ['100% Zoe', '100% Zoe'],
    ['Zoë 日本 5%', 'Zo%C3%AB %E6%97%A5%E6%9C%AC 5%25'],
  ])('has %s in a header as it can stand there', async (note, sent) => {
    const target = await targetThat({ status: 200 })
    await run({ url: target.url, headers: { 'x-note': '{{note}}' } }, { args: { id: '1', note } })
    expect(target.received[0]?.headers['x-note']).toBe(sent)
  })

  it.each(['GET', 'DELETE'] as const)('has them in the query with %s', async (method) => {
    const target = await targetThat({ status: 200 })
    await run({ method, url: at(target, '/x?a=1#f') }, { args: { id: 'a&b', many: [1, 2] } })
    expect(target.received[0]).toMatchObject({ method, path: '/x?a=1&id=a%26b&many=%5B1%2C2%5D', body: '' })
  })

  it.each([
    ['no id', {}, 'id is required'],
    ['a number for an id', { id: 7 }, 'id must be a string'],
    [
      'what it does not know',
      { id: '1', tenant_id: 'other' },
      'tenant_id is not a known field: there are id, note, many, days',
    ],
    ['no object', [], 'arguments must be an object'],
    ['an id that is nothing', { id: '' }, 'id must not be empty'],
    ['a step up in the path', { id: '..' }, 'the arguments do not make an address'],
    ['a step in the path', { id: '.' }, 'the arguments do not make an address'],
    ['two lines in a header', { id: '1', note: 'a\r\nx-other: 1' }, 'note has characters that cannot be sent'],
    ['more than an address holds', { id: 'x'.repeat(9_000) }, 'the arguments are too long for an address'],
  ])('asks nobody when it is given %s', async (_what, args, message) => {
    const target = await targetThat({ status: 200 })
    const asked = run({ url: at(target, '/of/{{id}}/all'), headers: { 'x-note': '{{note}}' } }, { args })
    await expect(asked).rejects.toMatchObject({ name: 'ToolRefusal', message })
    expect(target.received).toEqual([])
  })

  it.each<[what: string, parameters: Record<string, unknown>, args: unknown, message: string]>([
    [
      'neither of two members',
      { anyOf: [{ required: ['mail'] }, { required: ['phone', 'name'] }] },
      {},
      'arguments must be an object with mail or an object with phone and name',
    ],
    [
      'neither of two objects',
      {
        properties: {
          to: {
            oneOf: [{ type: 'object', required: ['mail'] }, { type: 'object', required: ['phone'] }, { type: 'null' }],
          },
        },
      },
      { to: { name: 'Ann' } },
      'to must be an object with mail or an object with phone or null',
    ],
    [
      'another value than null and a text',
      { properties: { at: { enum: ['noon', 3, null] } } },
      { at: 'x' },
      'at must be one of noon, 3, null',
    ],
  ])('tells the model what is wanted that gave %s', async (_what, parameters, args, message) => {
    const target = await targetThat({ status: 200 })
    const asked = run({ url: target.url, parameters: { type: 'object', ...parameters } }, { args })
    await expect(asked).rejects.toMatchObject({ name: 'ToolRefusal', message })
  })

  it.each<[string, string, Record<string, string>]>([
    ['an address', '/?'.concat('{{note}}'.repeat(40)), {}],
    ['a header', '/', { 'x-one': '{{note}}'.repeat(40), 'x-two': '{{note}}'.repeat(40) }],
  ])('fills no more into %s than can be sent, however often something is named there', async (where, path, headers) => {
    const target = await targetThat({ status: 200 })
    const asked = run({ url: at(target, path), headers }, { args: { id: '1', note: 'x'.repeat(1_000) } })
    const message = `the arguments are too long for ${where}`
    await expect(asked).rejects.toMatchObject({ name: 'ToolRefusal', message })
    expect(target.received).toEqual([])
  })

  it.each([
    ['text', { status: 200, body: 'All sold.' }, { output: { status: 200, body: 'All sold.' } }],
    ['nothing', { status: 204 }, { output: { status: 204, body: '' } }],
    ['a number', { status: 200, body: '12' }, { output: { status: 200, body: '12' } }],
    [
      'a picture',
      { status: 200, headers: { 'content-type': 'image/png' }, body: Buffer.from([0x89, 0, 1]) },
      { output: { status: 200, body: '(3 bytes of image/png, which cannot be read here)' } },
    ],
    [
      'a refusal',
      { status: 404, body: '{"why": "no such order"}' },
      { output: { error: 'the address answered 404', body: { why: 'no such order' } }, status: 'error' },
    ],
    ['a failure', { status: 500 }, { output: { error: 'the address answered 500' }, status: 'error' }],
    [
      'a redirect, which nobody follows',
      { status: 302, headers: { location: 'http://169.254.169.254/' } },
      { output: { error: 'the address answered 302; redirects are not followed' }, status: 'error' },
    ],
  ] satisfies [string, Behaviour, object][])('tells of an answer that is %s', async (_what, behaviour, result) => {
    const target = await targetThat(behaviour)
    expect(await resultOf({ url: target.url })).toEqual(result)
    expect(target.received).toHaveLength(1)
  })

  it.each<[string, Behaviour]>([
    ['never ends', 'endless'],
    ['is long', { status: 200, body: `{"a": "${'é'.repeat(20_000)}"}` }],
  ])('cuts an answer that %s, and leaves whole JSON', async (_what, behaviour) => {
    const target = await targetThat(behaviour)
    const { output } = await resultOf({ url: target.url })
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThanOrEqual(8_000)
    expect(output).toMatchObject({ status: 200, truncated: true })
  })

  it('tells of JSON that is nested deeper than 64 levels as text', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const bodies = [nested(64), nested(65), nested(30_000)]
    const target = await targetThat(...bodies.map((body) => ({ status: 200, body })))
    const told = [
      await resultOf({ url: target.url }),
      await resultOf({ url: target.url }),
      await resultOf({ url: target.url }),
    ]
    expect(told.map(({ output }) => typeof output['body'])).toEqual(['object', 'string', 'string'])
    expect(told[1]?.output).toEqual({ status: 200, body: nested(65) })
    expect(told[2]?.output).toMatchObject({ truncated: true })
  })

  it('that does not answer has its time, and then the model is told that nobody knows', async () => {
    const target = await targetThat('hang')
    const clock = new TestClock()
    const result = resultOf({ url: target.url, timeout_ms: 3_000, idempotent: true }, { clock })
    await target.receive(1)
    await clock.advance(3_000)
    expect(await result).toEqual({
      output: { error: 'There was no answer within 3000 ms. It is not known whether it was done.' },
      status: 'timeout',
    })
    expect(target.received).toHaveLength(1)
  })

  it('F49: that answers two MiB is told of as far as the model can take it', async () => {
    const target = await targetThat({ status: 200, body: 'x'.repeat(2 * 1024 * 1024) })
    const { output } = await resultOf({ url: target.url })
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThanOrEqual(8_000)
    expect(output).toMatchObject({ status: 200, truncated: true })
  })

  it('F50: that answers what is no JSON, and calls it that, is told of as text', async () => {
    const headers = { 'content-type': 'application/json' }
    const target = await targetThat({ status: 200, headers, body: '{"price":' })
    expect(await resultOf({ url: target.url })).toEqual({ output: { status: 200, body: '{"price":' } })
  })

  it('F47: that answers slowly is told of as far as it came', async () => {
    const target = await targetThat('drip')
    const result = resultOf({ url: target.url, timeout_ms: 2_000 }, { clock: systemClock })
    expect(await result).toEqual({ output: { ...BROKEN_OFF, body: 'a', truncated: true }, status: 'timeout' })
  })

  it.each<[string, Behaviour]>([
    ['broke', 'reset'],
    ['was no HTTP', 'no http'],
  ])('whose connection %s fails, and is not asked again', async (_what, behaviour) => {
    const target = await targetThat(behaviour)
    const { output, status } = await resultOf({ url: target.url })
    expect([status, String(output['error'])]).toEqual(['error', expect.stringContaining('did not answer')])
    expect(target.received).toHaveLength(1)
  })

  it('whose answer breaks off has failed, whatever came of it', async () => {
    const target = await targetThat('reset after the head')
    const { output, status } = await resultOf({ url: target.url })
    expect([output, status]).toMatchObject([BROKEN_OFF, 'error'])
    expect(target.received).toHaveLength(1)
  })

  it.each<[string, Behaviour]>([
    ['the connection broke', 'reset'],
    ['its answer broke off', 'reset after the head'],
    ['something in between gave up', { status: 503 }],
  ])('is asked once more when %s, if it may be: by the same key', async (_what, behaviour) => {
    const target = await targetThat(behaviour, { status: 200, body: 'done' })
    expect(await resultOf({ url: target.url, idempotent: true })).toEqual({ output: { status: 200, body: 'done' } })
    const keys = target.received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([`${SESSION}.call_1`, `${SESSION}.call_1`])
  })

  it('F48: that is in trouble is asked twice at most', async () => {
    const target = await targetThat({ status: 503 })
    expect((await resultOf({ url: target.url, idempotent: true })).status).toBe('error')
    expect(target.received).toHaveLength(2)
  })

  it('does not reach into our own network', async () => {
    const target = await targetThat({ status: 200 })
    for (const url of [target.url, 'http://metadata.example.com/', 'http://169.254.169.254/latest']) {
      const { output, status } = await resultOf({ url }, { allowPrivate: false })
      expect([status, String(output['error'])]).toEqual(['error', expect.stringContaining('may be asked')])
    }
    expect(target.received).toEqual([])
  })

  it('shows what it asked without what is secret of it', async () => {
    const target = await targetThat({ status: 200 })
    const { request } = await run({ url: target.url, headers: { Authorization: 'Bearer s3cret-of-the-tenant' } })
    expect(JSON.stringify(request)).not.toContain('s3cret')
    expect(request).toMatchObject({ method: 'POST', url: target.url, headers: { Authorization: '***' } })
  })
})
