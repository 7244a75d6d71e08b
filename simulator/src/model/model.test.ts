import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Model } from './model.ts'
import { makeBench } from './model-client.fixture.ts'

const bench = makeBench()
afterEach(() => bench.reset())
afterAll(() => bench.close())

function control(model: Model, path: string, method = 'GET', body?: unknown): Promise<Response> {
  const url = new URL(path, model.url.replace('ws:', 'http:'))
  return fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

/**
 * What this process holds beyond `before`, once that is nothing, or after ten seconds. What went away meanwhile, such
 * as a timer of an earlier test's connection, is no leak. Waits without a timer, which would be counted.
 */
async function leftBehind(before: readonly string[]): Promise<string[]> {
  const untilMs = performance.now() + 10_000
  const beyond = () => {
    const known = [...before]
    return process.getActiveResourcesInfo().filter((kind) => {
      const at = known.indexOf(kind)
      if (at >= 0) known.splice(at, 1)
      return at < 0
    })
  }
  while (beyond().length > 0 && performance.now() < untilMs) await setImmediate()
  return beyond()
}

describe('a model', () => {
  it('leaves no socket, timer or worker of its own behind, whatever its sessions are doing', async () => {
    await bench.speech.say('Warm.')
    const before = process.getActiveResourcesInfo()
    const black = { cut: { manner: 'black_hole' as const, on_event: 'response.output_audio.delta' }, sessions: [1] }
    const stalled = { stall: { on_event: 'session.updated', stall_ms: 60_000 }, sessions: [2] }
    const model = await bench.model({
      faults: [black, stalled, { handshake_delay_ms: 60_000, sessions: [4] }],
      pace: { thinkMs: 0, timesRealTime: 1 },
    })
    const [swallowed, held, speaking] = [bench.client(model), bench.client(model), bench.client(model)]
    await swallowed.configure()
    swallowed.send({ type: 'response.create' })
    await swallowed.event('response.output_audio.delta')
    await held.event('session.created')
    held.send({ type: 'session.update', session: { type: 'realtime' } })
    await held.event('session.updated')
    await speaking.event('session.created')
    speaking.send({ type: 'response.create' })
    await speaking.event('response.output_audio.delta')
    const waiting = bench.client(model)
    await Promise.all([model.close(), model.close()])
    await speaking.until(() => speaking.closed !== null, 'the close')
    await waiting.until(() => waiting.closed !== null, 'the close')
    expect(speaking.closed?.code).toBe(1001)
    expect(model.sessions.map((session) => session.record.closedAtMs === null)).toEqual([false, false, false])
    await bench.reset()
    expect(await leftBehind(before)).toEqual([])
  })

  it('rejects a port that is taken', async () => {
    const model = await bench.model()
    await expect(bench.model({ port: Number(new URL(model.url).port) })).rejects.toThrow('EADDRINUSE')
  })

  it('keeps a record of each session', async () => {
    const model = await bench.model({ brain: { rules: [{ say: 'Done.', call: { name: 'none' } }] } })
    const client = bench.client(model)
    await client.configure({}, { turn_detection: null })
    client.send({ type: 'response.create' })
    client.send({ type: 'response.cancel', response_id: 'resp_other' })
    await client.event('response.done')
    expect(model.sessions[0]?.record).toMatchObject({
      model: 'gpt-realtime',
      closedAtMs: null,
      received: { 'session.update': 1, 'response.create': 1, 'response.cancel': 1 },
      said: [{ text: 'Done.', status: 'completed' }],
      problems: ['not among the tools of this session: none'],
      errors: [{ code: 'response_cancel_not_active' }],
    })
  })

  it('can be steered over HTTP: scripts, faults, records', async () => {
    const model = await bench.model()
    expect((await control(model, '/control/scripts/order', 'PUT', { rules: [{ say: 'Pizza?' }] })).status).toBe(200)
    const client = bench.client(model, 'model=m&script=order')
    await client.configure({}, { turn_detection: null })
    client.send({ type: 'response.create' })
    const { response } = await client.event('response.done')
    expect(response.output[0].content[0].transcript).toBe('Pizza?')
    const { sessions } = (await (await control(model, '/control/sessions')).json()) as { sessions: { id: string }[] }
    const faults = { cut: { manner: 'close', after_events: 1 } }
    expect((await control(model, `/control/sessions/${sessions[0]?.id}/faults`, 'PUT', faults)).status).toBe(200)
    client.send({ type: 'input_audio_buffer.clear' })
    await client.until(() => client.closed !== null, 'the close')
    expect((await control(model, '/control/scripts/order', 'DELETE')).status).toBe(200)
  })

  it.each([
    ['PUT /control/script', { rules: [{ sya: 'Hello.' }] }, 400, "Unknown parameter: 'script.rules[0].sya'."],
    ['PUT /control/faults', [{ cut: {} }], 400, "Missing required parameter: 'faults[0].cut.manner'."],
    [
      'DELETE /control/scripts/none',
      undefined,
      404,
      'There is nothing here. Sessions open at /v1/realtime by websocket.',
    ],
    ['POST /control/script', {}, 405, 'Use GET, PUT or DELETE.'],
  ])('answers %s with what is wrong', async (request, body, status, error) => {
    const [method, path = ''] = request.split(' ')
    const response = await control(await bench.model(), path, method, body)
    expect([response.status, await response.json()]).toEqual([status, { error }])
  })
})
