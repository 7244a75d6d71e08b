import { describe, expect, it, onTestFinished } from 'vitest'
import { CALLER, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { SILENT_FRAME } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'

type Told = { id: string; event: string; data: Record<string, unknown> }

describe('live sessions', () => {
  const test = useDatabase()
  const app = useCallApp(test, { agent: { agent_name: 'Robin', greeting: 'Hello.' } })

  const get = (path: string, tenant: string | null = 'acme') => app.served.call(tenant, 'GET', path)
  const act = (body: unknown, { tenant = 'acme', sid = 'MZCA1' }: { tenant?: string | null; sid?: string } = {}) =>
    app.served.call(tenant, 'POST', `/sessions/${sid}/actions`, body)

  it('are listed, newest first, and shown one by one', async () => {
    await app.talk({ CallSid: 'CA1' })
    await app.clock.advance(1_000)
    await app.talk({ CallSid: 'CA2' })
    const { status, body } = await get('/sessions/active')
    expect(status).toBe(200)
    expect(body).toMatchObject({ ok: true, count: 2, sessions: [{ stream_sid: 'MZCA2' }, { stream_sid: 'MZCA1' }] })
    expect((await get('/sessions/MZCA1')).body).toMatchObject({
      session: {
        ...{
          call_sid: 'CA1',
          tenant: 'acme',
          org_id: null,
          agent_name: 'Robin',
          call_type: 'inbound',
          greeting: 'Hello.',
        },
        ...{
          customer_phone: CALLER,
          started_at: '2030-01-01T00:00:00.000Z',
          muted: false,
          escalated: false,
          escalation_target: null,
        },
      },
    })
  })

  it("are nobody's but their tenant's", async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    await app.talk({ CallSid: 'CA1' })
    expect((await get('/sessions/active', 'other')).body).toMatchObject({ count: 0, sessions: [] })
    const others = [
      await get('/sessions/MZCA1', 'other'),
      await get('/sessions/MZCA1/events', 'other'),
      await act({ action: 'end_call' }, { tenant: 'other' }),
      await get('/sessions/unknown'),
    ]
    expect(others.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect((await get('/sessions/MZCA1')).status).toBe(200)
  })

  it('are shown to nobody without a credential', async () => {
    await app.talk({ CallSid: 'CA1' })
    const paths = ['/sessions/active', '/sessions/MZCA1', '/sessions/MZCA1/events']
    const statuses = await Promise.all(paths.map(async (path) => (await get(path, null)).status))
    expect([...statuses, (await act({ action: 'end_call' }, { tenant: null })).status]).toEqual([401, 401, 401, 401])
  })

  describe('are acted on', () => {
    it('by words for the caller', async () => {
      await app.talk({ CallSid: 'CA1' })
      const answer = await act({ action: 'say', text: 'One moment, please.', supervisor: 'ada', note: 'waits' })
      expect(answer).toMatchObject({
        status: 200,
        body: {
          ok: true,
          action: {
            ...{
              action: 'say',
              tenant_id: 'acme',
              stream_sid: 'MZCA1',
              call_sid: 'CA1',
              supervisor: 'ada',
              note: 'waits',
            },
            ...{ target: null, reason: null, metadata: {}, created_at: '2030-01-01T00:00:00.000Z' },
          },
        },
      })
      const { last } = app.model
      last.tell({ type: 'response_started', responseId: 'r1' })
      last.speak('r1', 'i1', SILENT_FRAME)
      const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
      last.tell({ type: 'response_done', responseId: 'r1', status: 'completed', errorCode: null, fault: null, usage })
      await until(() => JSON.stringify(last.commands).includes('One moment, please.'), { what: 'the words' })
    })

    it('by words for the agent alone', async () => {
      await app.talk({ CallSid: 'CA1' })
      expect((await act({ action: 'whisper', text: 'Offer a discount.' })).status).toBe(200)
      expect(app.model.last.commands).toContainEqual({ type: 'system_message', text: 'Offer a discount.' })
    })

    it('by silencing the agent, and letting it speak again', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      const { last } = app.model
      last.tell({ type: 'response_started', responseId: 'r1' })
      last.speak('r1', 'i1', SILENT_FRAME)
      expect((await act({ action: 'mute', supervisor: 'ada' })).status).toBe(200)
      await until(() => client.messages.some(({ event }) => event === 'clear'), { what: 'the silence' })
      expect(last.commands).toContainEqual({ type: 'cancel', responseId: 'r1' })
      expect((await get('/sessions/MZCA1')).body).toMatchObject({ session: { muted: true } })
      const frames = client.messages.filter(({ event }) => event === 'media').length
      last.speak('r1', 'i1', SILENT_FRAME)
      expect((await act({ action: 'unmute' })).status).toBe(200)
      expect((await get('/sessions/MZCA1')).body).toMatchObject({ session: { muted: false } })
      expect(client.messages.filter(({ event }) => event === 'media')).toHaveLength(frames)
    })

    it('by a note, of which the call knows nothing', async () => {
      await app.talk({ CallSid: 'CA1' })
      const before = app.model.last.commands.length
      expect(await act({ action: 'note', note: 'Sounds upset.' })).toMatchObject({
        status: 200,
        body: { action: { action: 'note', note: 'Sounds upset.' } },
      })
      expect(app.model.last.commands).toHaveLength(before)
    })

    it('by an escalation, which their log shows', async () => {
      await app.talk({ CallSid: 'CA1' })
      for (const target of ['the billing team', 'the boss'])
        expect((await act({ action: 'escalate', target, reason: 'a refund' })).status).toBe(200)
      const escalated = { escalated: true, escalation_target: 'the boss' }
      expect((await get('/sessions/MZCA1')).body).toMatchObject({ session: escalated })
      expect((await get('/call-logs/CA1')).body).toMatchObject({ call_log: escalated })
    })

    it('by an end, after which they are acted on no more', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      expect((await act({ action: 'end_call', reason: 'abuse' })).status).toBe(200)
      await until(() => app.rest.requests.length > 0, { what: 'the call to be ended' })
      await app.pass(() => client.closeCode, 'the end of the stream')
      expect((await act({ action: 'say', text: 'Too late.' })).status).toBe(404)
      expect((await get('/sessions/MZCA1')).status).toBe(404)
      const { body } = await app.pass(async () => {
        const answer = await app.served.call<{ voice_sessions: { end_reason: string }[] }>(
          'acme',
          'GET',
          '/voice-sessions',
        )
        return answer.body.voice_sessions[0]?.end_reason ? answer : null
      }, 'the end to be written down')
      expect(body.voice_sessions).toMatchObject([{ end_reason: 'supervisor' }])
    })

    it('but not while they end', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      // The caller's last words are still being written down.
      app.model.last.tell({ type: 'speech_started', itemId: 'i1', audioStartMs: 0 })
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      const states = async () => (await get('/sessions/MZCA1')).body as { session?: { state: string } }
      await until(async () => (await states()).session?.state === 'draining', { what: 'the end to begin' })
      expect((await act({ action: 'say', text: 'Too late.' })).status).toBe(409)
    })

    it.each([
      [{ action: 'levitate' }, '/body/action'],
      [{ action: 'note', text: 'In the wrong place.' }, '/body/note'],
      [{ action: 'constructor' }, '/body/action'],
      [{}, '/body/action'],
      [{ action: 'say' }, '/body/text'],
      [{ action: 'whisper', text: '  ' }, '/body/text'],
      [{ action: 'end_call', colour: 'red' }, '/body/colour'],
    ])('and %j is refused with 400', async (body, path) => {
      await app.talk({ CallSid: 'CA1' })
      expect(await act(body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
    })

    it('and a takeover is told where it is to be asked for', async () => {
      await app.talk({ CallSid: 'CA1' })
      const message = expect.stringMatching(
        /^must be one of note, .*; POST …\/sessions\/\{stream_sid\}\/takeover takes/,
      )
      expect(await act({ action: 'takeover' })).toMatchObject({ status: 400, body: { details: [{ message }] } })
    })
  })

  describe('are watched', () => {
    async function watch(lastEventId?: string, token = app.served.tokenOf('acme')) {
      const stopping = new AbortController()
      onTestFinished(() => stopping.abort())
      const response = await fetch(`${app.served.address}/api/v1/sessions/MZCA1/events`, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(lastEventId && { 'last-event-id': lastEventId }),
        },
        signal: stopping.signal,
      })
      const told: Told[] = []
      const state = { text: '', isOver: false, isCut: false }
      void read(response, state, told).catch(() => {
        state.isCut = true
      })
      return { response, told, state, stop: () => stopping.abort() }
    }

    async function read(response: Response, state: { text: string; isOver: boolean }, told: Told[]): Promise<void> {
      let rest = ''
      for await (const chunk of response.body ?? []) {
        const text = Buffer.from(chunk).toString()
        state.text += text
        const blocks = (rest + text).split('\n\n')
        rest = blocks.pop() ?? ''
        told.push(...blocks.flatMap(parsed))
      }
      state.isOver = true
    }

    function parsed(block: string): Told[] {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)))
      return fields['event']
        ? [{ id: fields['id'], event: fields['event'], data: JSON.parse(fields['data'] ?? '') }]
        : []
    }

    it('with what supervisors do to them', async () => {
      await app.talk({ CallSid: 'CA1' })
      const { told } = await watch()
      for (const action of ['mute', 'mute', 'unmute']) expect((await act({ action })).status).toBe(200)
      expect((await act({ action: 'escalate', target: 'the boss' })).status).toBe(200)
      await until(() => told.some(({ data }) => 'escalated' in data), { what: 'the escalation' })
      expect(told.map(({ data }) => data)).toEqual([
        ...[{ state: 'waiting' }, { state: 'talking' }],
        { state: 'talking', muted: true },
        { state: 'talking', muted: false },
        { state: 'talking', escalated: true, escalation_target: 'the boss' },
      ])
    })

    it('from their beginning to their end', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      const { response, told, state } = await watch()
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      const { last } = app.model
      last.tell({ type: 'response_started', responseId: 'r1' })
      const words = { responseId: 'r1', itemId: 'i1', text: 'Hello.' }
      last.tell({ type: 'item_added', itemId: 'i1', previousItemId: null, role: 'agent' })
      last.tell({ type: 'agent_transcript', ...words, final: false })
      // They come in steps of a tenth of a second.
      await app.pass(() => told.some(({ event }) => event === 'turn_delta'), 'the words')
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      await app.pass(() => state.isOver, 'the end of the events')
      expect(told.map(({ event }) => event)).toEqual(expect.arrayContaining(['state', 'turn_delta', 'ended']))
      expect(told.map(({ id }) => id)).toEqual(told.map((_event, i) => String(i + 1)))
      expect(told.at(-1)).toMatchObject({ event: 'ended', data: { end_reason: 'caller_hangup' } })
      expect(told.find(({ event }) => event === 'turn_delta')?.data).toEqual({
        item_id: 'i1',
        role: 'agent',
        text: 'Hello.',
      })
    })

    it('from where a watcher was cut off', async () => {
      await app.talk({ CallSid: 'CA1' })
      await until(async () => (await get('/sessions/MZCA1')).body, { what: 'the session' })
      const first = await watch()
      await until(() => first.told.length >= 2, { what: 'the first events' })
      first.stop()
      const second = await watch(first.told[0]?.id)
      await until(() => second.told.length >= 1, { what: 'the later events' })
      expect(second.told[0]?.id).toBe('2')
    })

    it('by whoever leaves when they like, which is no trouble', async () => {
      await app.talk({ CallSid: 'CA1' })
      const { state, stop } = await watch()
      await until(() => state.text.includes('event: state'), { what: 'the first event' })
      const before = app.clock.pendingTimers
      stop()
      await until(() => app.clock.pendingTimers < before, { what: 'the watcher to be gone' })
      // Answered behind it: what the service had to say of the other is said.
      await get('/sessions/MZCA1')
      expect(app.served.logLines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
    })

    it('until the key is revoked by which they are', async () => {
      const keys = '/tenants/acme/api-keys'
      const { created } = await app.served.administer<{ created: { token: string; api_key: { id: string } } }>(
        'POST',
        keys,
        { label: 'watcher' },
      )
      await app.talk({ CallSid: 'CA1' })
      const [revoked, other] = [await watch(undefined, created.token), await watch()]
      await until(() => revoked.state.text.includes('event: state'), { what: 'the first event' })
      await app.served.administer('DELETE', `${keys}/${created.api_key.id}`)
      await app.pass(() => revoked.state.isCut, 'the watcher to be sent away')
      // Of the other it is asked, too, which may be answered later.
      const untilMs = app.clock.now() + 2_000
      await app.pass(() => app.clock.now() >= untilMs, 'two more looks')
      expect([other.state.isCut, other.state.isOver]).toEqual([false, false])
    })

    it('by a hundred of a tenant at once, and by the next one when one of them leaves', async () => {
      await app.talk({ CallSid: 'CA1' })
      const watchers = await Promise.all(Array.from({ length: 100 }, () => watch()))
      expect(watchers.filter(({ response }) => response.status !== 200)).toEqual([])
      const tooMany = (await watch()).response
      expect([tooMany.status, tooMany.headers.get('retry-after')]).toEqual([429, '10'])
      expect((await get('/sessions/unknown/events')).status).toBe(429)
      watchers[0]?.stop()
      await expect.poll(async () => (await get('/sessions/unknown/events')).status).toBe(404)
      expect((await watch()).response.status).toBe(200)
    })

    it('and are said to be alive while nothing happens', async () => {
      await app.talk({ CallSid: 'CA1' })
      const { state } = await watch()
      await until(() => state.text.includes('event: state'), { what: 'the first event' })
      await app.clock.advance(15_000)
      await until(() => state.text.includes(': alive\n\n'), { what: 'the sign of life' })
    })
  })
})
