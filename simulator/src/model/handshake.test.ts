import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { makeBench, TestClient } from './model-client.fixture.ts'

const bench = makeBench()
afterEach(() => bench.reset())
afterAll(() => bench.close())

const KEY = { authorization: 'Bearer right' }

describe('opening a session', () => {
  it.each([
    ['no key', 'model=m', {}, 401],
    ['a wrong key', 'model=m', { authorization: 'Bearer wrong' }, 401],
    ['no model', '', KEY, 400],
    ['a model and a call', 'model=m&call_id=c', KEY, 400],
    ['a call', 'call_id=c', KEY, 400],
  ])('is refused with %s', async (_, query, headers, status) => {
    const client = bench.client(await bench.model({ apiKey: 'right' }), query, headers)
    await client.until(() => client.refusedStatus !== null, 'the refusal')
    expect(client.refusedStatus).toBe(status)
  })

  it.each([{ authorization: 'Bearer right' }, { 'api-key': 'right' }])(
    'takes the right key in either header',
    async (headers) => {
      const client = bench.client(await bench.model({ apiKey: 'right' }), 'model=m', headers)
      expect((await client.event('session.created'))['session'].model).toBe('m')
    },
  )

  it('tells a client of the retired beta so, and closes', async () => {
    const client = bench.client(await bench.model(), 'model=m', { ...KEY, 'openai-beta': 'realtime=v1' })
    const { error } = await client.event('error')
    await client.until(() => client.closed !== null, 'the close')
    expect([error.code, client.closed?.code]).toEqual(['beta_api_shape_disabled', 4000])
    expect(client.types()).toEqual(['error'])
  })

  it.each([401, 403, 404, 429, 500, 503])(
    'is refused with %i when asked to, for the sessions asked for',
    async (status) => {
      const model = await bench.model({ faults: [{ handshake_status: status, sessions: [1] }] })
      const first = bench.client(model)
      await first.until(() => first.refusedStatus !== null, 'the refusal')
      expect(first.refusedStatus).toBe(status)
      await bench.client(model).event('session.created')
    },
  )

  it.each(['//', '//?model=m', '//[', '/v1/text-to-speech/%E0/stream-input?output_format=ulaw_8000'])(
    'is refused at %s, which the model survives',
    async (path) => {
      const model = await bench.model()
      const lost = new TestClient(model.url.replace('/v1/realtime', path), KEY)
      await lost.until(() => lost.refusedStatus !== null, 'the refusal')
      expect(lost.refusedStatus).toBe(404)
      await bench.client(model).event('session.created')
    },
  )

  it('resets the connection when asked to', async () => {
    const client = bench.client(await bench.model({ faults: [{ refuse: true }] }))
    await client.until(() => client.closed !== null, 'the reset')
    expect([client.refusedStatus, client.closed?.code, client.events]).toEqual([null, 1006, []])
  })

  it('opens and says an error when asked to', async () => {
    const client = bench.client(await bench.model({ faults: [{ open_error: 'model_not_found' }] }))
    await client.until(() => client.closed !== null, 'the close')
    expect(client.events.map(({ error }) => error.code)).toEqual(['model_not_found'])
    expect(client.closed).toEqual({ code: 4000, reason: 'invalid_request_error.model_not_found' })
  })
})
